// Runs the chip until its program stops it, and prints one line for each output of its port:
//   text LINE           text that the program prints
//   word VALUE          a word of its output
//   mark VALUE CYCLE    progress of the program, with the cycle
//   cycles CYCLE        every half second: it is still running
//   stop CODE CYCLE     the end; CODE is also the exit code of this program
//   limit CYCLE         the limit was reached before the end
// Usage: bench [CYCLES]; the files with the contents of the memories must be in the current directory.

#include "Vsoc.h"
#include "verilated.h"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

int main(int argc, char** argv) {
    const uint64_t most = argc > 1 ? strtoull(argv[1], nullptr, 10) : UINT64_MAX;
    VerilatedContext context;
    Vsoc top{&context};
    const auto tick = [&] {
        top.clk = 1;
        top.eval();
        top.clk = 0;
        top.eval();
    };
    top.clk = 0;
    top.reset = 1;
    for (int i = 0; i < 8; i++) tick();
    top.reset = 0;
    top.eval();

    std::string line;
    auto said = std::chrono::steady_clock::now();
    for (unsigned long long cycle = 0; cycle < most; cycle++) {
        if (top.port_console_valid) {
            const char character = static_cast<char>(top.port_console);
            if (character == '\n') {
                printf("text %s\n", line.c_str());
                line.clear();
            } else {
                line += character;
            }
        }
        if (top.port_word_valid) printf("word %u\n", static_cast<unsigned>(top.port_word));
        if (top.port_mark_valid) printf("mark %u %llu\n", static_cast<unsigned>(top.port_mark), cycle);
        if (top.port_stop_valid) {
            printf("stop %u %llu\n", static_cast<unsigned>(top.port_stop), cycle);
            top.final();
            return static_cast<int>(top.port_stop & 0xFF);
        }
        if (cycle % 1024 == 0) {
            const auto now = std::chrono::steady_clock::now();
            if (now - said > std::chrono::milliseconds(500)) {
                said = now;
                printf("cycles %llu\n", cycle);
                fflush(stdout);
            }
        }
        tick();
    }
    printf("limit %llu\n", static_cast<unsigned long long>(most));
    return 124;
}
