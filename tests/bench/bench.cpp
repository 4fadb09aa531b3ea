// The loop that a user would write by hand to run many operations on one Verilated machine with val/rdy streams.
// Usage: bench REQUESTS RESPONSES (binary: messages as rows of 32-bit words, least significant first); prints
// cycles and seconds of CPU time.

#include "VBench.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

template <typename T> constexpr std::size_t words_of = (sizeof(T) + 3) / 4;

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    VerilatedContext context;
    VBench top{&context};
    using Request = std::remove_reference_t<decltype(top.istream___05Fmsg)>;
    using Response = std::remove_reference_t<decltype(top.ostream___05Fmsg)>;
    std::vector<uint32_t> in;
    FILE* file = fopen(argv[1], "rb");
    if (!file) return 2;
    for (uint32_t word; fread(&word, 4, 1, file) == 1;) in.push_back(word);
    fclose(file);
    const std::size_t count = in.size() / words_of<Request>;
    std::vector<uint32_t> out(count * words_of<Response>);

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
    for (std::size_t i = 0; i < count; i++) {
        std::memcpy(&top.istream___05Fmsg, &in[i * words_of<Request>], sizeof(Request));
        top.istream___05Fval = 1;
        top.eval();
        while (!top.istream___05Frdy) tick();
        tick();
        top.istream___05Fval = 0;
        top.eval();
        while (!top.ostream___05Fval) tick();
        std::memcpy(&out[i * words_of<Response>], &top.ostream___05Fmsg, sizeof(Response));
        tick();
    }
    const double seconds = static_cast<double>(clock() - start) / CLOCKS_PER_SEC;
    top.final();

    file = fopen(argv[2], "wb");
    if (!file || fwrite(out.data(), 4, out.size(), file) != out.size() || fclose(file)) return 2;
    printf("%llu %.9f\n", static_cast<unsigned long long>(cycles), seconds);
}
