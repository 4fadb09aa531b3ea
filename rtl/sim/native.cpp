// The val/rdy driver of backend `native`: executes a whole plan (protocol.py) in C++.
//
// The texts of model.cpp and memory/memory.cpp precede it. The model is the harness that harness.py puts around the design; static ports are
// concatenated to one number. The order of events in a cycle must be the same as in pydriver.py.

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
    uint32_t random;  // 0: no stalls
    uint32_t* responses;
    int64_t* accepted;
    int64_t* done;
    MemoryPlan memory;
};

// Mirrored by `_Progress` in native.py.
struct Progress {
    int64_t sent;
    int64_t received;
    uint64_t cycle;
};

}  // extern "C"

namespace {

struct State : Progress {
    uint64_t limit;
    int32_t wait;
    int32_t refused;
    int32_t current;
    Random random;
    bool offered;
};

class Driver : public Model {
  public:
    Driver(const char* waves, int seed) : Model(waves, seed) {
        top->load = top->load_statics = 0;
        top->eval();
    }

    void start(const Plan& p) {
        plan = p;
        top->reset = 1;
        top->istream_val = 0;
        clear(top->istream_msg);
        top->ostream_rdy = 0;
        memory.start(plan.memory, *top);
        changed = true;
        set_statics(plan.static_of[0]);
        for (uint64_t i = 0; i < RESET_CYCLES; i++) {
            load();
            edge();
        }
        top->reset = 0;
        changed = true;
        state = State{};
        state.wait = plan.source_delays[0];
        state.current = plan.static_of[0];
        state.random = {plan.random};
        state.limit = limit(0);
        promise.forget();
    }

    Outcome advance(uint64_t budget) {
        State s = state;  // a local copy stays in registers across the calls of the model
        const Outcome outcome = advance(s, s.cycle + budget);
        state = s;
        return outcome;
    }

    State state{};
    Memory memory;

  private:
    Outcome advance(State& s, uint64_t stop) {
        VHarness& top = *this->top;
        while (s.received < plan.total) {
            if (s.cycle >= s.limit) return TIMEOUT;
            if (s.cycle >= stop) return RUNNING;

            bool source_stall = false, sink_stall = false;
            if (plan.random) {
                source_stall = s.random.draw() < plan.source_threshold;
                sink_stall = s.random.draw() < plan.sink_threshold;
            }

            if (!s.offered && s.sent < plan.total) {
                const int32_t wanted = plan.static_of[s.sent];
                if (s.wait) {
                    s.wait--;
                } else if ((s.sent == s.received || (wanted == s.current && !memory.has_image(s.sent))) && !source_stall) {
                    memory.load(s.sent);
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
            changed |= memory.drive(top, s.cycle, s.random);

            load();
            const bool idle = !Memory::PORTS && !plan.random && !promise.waits() && (s.offered || s.sent == plan.total);
            if (idle) {  // no input changes until the next handshake
                const uint64_t end = s.limit < stop ? s.limit : stop;
                while (s.cycle < end && !handshake(s)) {
                    edge();
                    if (++s.cycle < end) load();
                }
                if (s.cycle == end) continue;
            }
            const bool fired = s.offered && top.istream_rdy;
            const Outcome refused = memory.sample(top, s.cycle, memory.delay(s.received), fired || s.sent > s.received);
            if (refused) return refused;
            if (fired) plan.accepted[s.sent++] = s.cycle;
            const Outcome broken = promise.check(top.ostream_val, ready, top.ostream_msg);
            if (broken) return broken;
            if (top.ostream_val) {
                if (!ready) {
                    s.refused++;
                } else if (s.received == s.sent) {
                    return UNEXPECTED;
                } else {
                    get(top.ostream_msg, plan.responses + s.received * words(top.ostream_msg));
                    memory.keep(s.received);
                    plan.done[s.received++] = s.cycle;
                    s.refused = 0;
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

    // Whether the design accepts the request or offers a response in this cycle.
    bool handshake(const State& s) const { return top->ostream_val || (s.offered && top->istream_rdy); }

    // Run some cycles after the last response, in which no further one may come.
    Outcome drain(State& s) {
        top->ostream_rdy = 1;
        changed = true;
        Random none{};
        for (uint64_t i = 0; i < DRAIN_CYCLES; i++, s.cycle++) {
            changed |= memory.drive(*top, s.cycle, none);
            load();
            if (top->ostream_val) return UNEXPECTED;
            const Outcome refused = memory.sample(*top, s.cycle, 0, false);
            if (refused) return refused;
            edge();
        }
        return FINISHED;
    }

    uint64_t limit(uint64_t cycle) const { return plan.max_cycles ? plan.max_cycles : cycle + plan.hang_cycles; }

    void set_statics(int32_t index) {
        put(top->statics, plan.static_sets + index * words(top->statics));
        top->load_statics = 1;
        top->eval();
        top->load_statics = 0;
        top->eval();
    }

    // Pass changed inputs to the design, and let its logic settle.
    void load() {
        if (changed) {
            top->load = 1;
            top->eval();
            top->load = 0;
            changed = false;
        }
        settle();
    }

    Plan plan{};
    bool changed = false;  // inputs that have not been evaluated yet
    Held<std::remove_reference_t<decltype(VHarness::ostream_msg)>> promise;
};

}  // namespace

API void sim_start(Driver* sim, const Plan* plan) { sim->start(*plan); }
API void sim_state(const Driver* sim, Progress* to) { *to = sim->state; }
API void sim_memory(const Driver* sim, MemoryState* to) { *to = sim->memory.state(); }
