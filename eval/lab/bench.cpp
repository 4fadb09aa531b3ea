// What a user would write by hand to run many exponentiations on one Verilated machine, and nothing more:
// a test bench for a 32-bit ModExp, whose requests are {base, exp, mod} and whose responses are {status, result}.
// Usage: bench REQUESTS RESPONSES (both binary, rows of 32-bit words); prints cycles and seconds of processor time.

#include "VModExp.h"

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <vector>

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    std::vector<uint32_t> in;
    FILE* file = fopen(argv[1], "rb");
    if (!file) return 2;
    for (uint32_t word; fread(&word, 4, 1, file) == 1;) in.push_back(word);
    fclose(file);
    std::vector<uint32_t> out;
    out.reserve(in.size() / 3);

    VerilatedContext context;
    VModExp top{&context};
    uint64_t cycles = 0;
    const auto tick = [&] {
        top.clk = 1;
        top.eval();
        top.clk = 0;
        top.eval();
        cycles++;
    };

    const clock_t start = clock();
    top.reset = 1;
    top.ostream___05Frdy = 1;
    top.clk = 0;
    top.eval();
    tick();
    tick();
    top.reset = 0;
    for (std::size_t i = 0; i < in.size(); i += 3) {
        top.istream___05Fmsg[2] = in[i];
        top.istream___05Fmsg[1] = in[i + 1];
        top.istream___05Fmsg[0] = in[i + 2];
        top.istream___05Fval = 1;
        top.eval();
        while (!top.istream___05Frdy) tick();
        tick();
        top.istream___05Fval = 0;
        top.eval();
        while (!top.ostream___05Fval) tick();
        out.push_back(static_cast<uint32_t>(top.ostream___05Fmsg));
        tick();
    }
    const double seconds = static_cast<double>(clock() - start) / CLOCKS_PER_SEC;
    top.final();

    file = fopen(argv[2], "wb");
    if (!file || fwrite(out.data(), 4, out.size(), file) != out.size() || fclose(file)) return 2;
    printf("%llu %.9f\n", static_cast<unsigned long long>(cycles), seconds);
}
