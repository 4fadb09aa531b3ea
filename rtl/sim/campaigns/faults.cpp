// Driver of faults.py: operations with one flipped bit, each on a fresh model, or all operations of a request on one model.
//
// The text of sites.cpp precedes it. A request is offered from cycle 0 on, the first after reset or after the response to the last of the
// earlier requests; the sink is always ready.
//
// The fault-free operation of a request is simulated once, and the contents of all registers are recorded, cycle by cycle. An operation with
// a fault starts from the record of the fault's cycle, and ends when its registers equal the recorded ones: the rest is then known.

namespace {

constexpr std::size_t MOST_KEPT = 32 << 20;

// How long a flip lasts.
enum Stay : int32_t { NEVER, UNTIL_WRITTEN, A_CYCLE, FOR_GOOD };

class Driver : public SiteModel {
  public:
    using SiteModel::SiteModel;

    void flip(const Site& site, int element, int bit, Stay how, uint64_t when) {
        byte = site.element(element) + bit / 8;
        mask = static_cast<uint8_t>(1 << bit % 8);
        stay = how;
        cycle_of_fault = when;
    }

    // Requests that are answered one after the other before the operation.
    void before(int64_t count, const uint32_t* requests) { earlier = requests, nearlier = count; }

    void start(const uint32_t* request, uint64_t limit, uint64_t more) {
        max_cycles = limit;
        rest = more;
        in_reset();
        if (stay == FOR_GOOD) *byte ^= mask;
        for (uint64_t i = 0; i < RESET_CYCLES; i++) step();
        top->reset = 0;
        for (int64_t i = 0; i < nearlier && !hung; i++) hung = !answers(earlier + i * words_of<decltype(VHarness::istream_msg)>);
        offer(request);
    }

    Outcome advance(uint64_t budget) {
        if (hung) return TIMEOUT;
        for (const uint64_t stop = cycle + budget; cycle < stop;) {
            if (!answered && cycle >= max_cycles) return TIMEOUT;
            if (answered && cycle > cycle_of_answer + rest) return FINISHED;
            const bool flips = cycle == cycle_of_fault && (stay == UNTIL_WRITTEN || stay == A_CYCLE);
            if (flips) *byte ^= mask;
            settle();
            const bool fired = top->istream_val && top->istream_rdy;
            if (top->ostream_val && !answered) {
                answered = true;
                cycle_of_answer = cycle;
                get(top->ostream_msg, response);
            }
            if (answered && cycle == cycle_of_answer + rest) return FINISHED;  // before the edge, so that the state can be read
            edge();
            if (flips && stay == A_CYCLE) *byte ^= mask;
            if (fired) withdraw();
            cycle++;
        }
        return RUNNING;
    }

    // Part of the record of a cycle: a register, or all words of a memory.
    void keep(const char* scope, const char* name) {
        const Site site = find(scope, name);
        kept.push_back({site.data, site.size * site.nelements});
        kept_size += kept.back().size;
    }

    // Simulate and record the fault-free operation.
    Outcome record(const uint32_t* request, uint64_t limit) {
        asked = request;
        start(request, limit, 0);
        states.clear();
        stride = 1;
        taken = limit;
        for (;;) {
            if (hung || cycle >= max_cycles) return TIMEOUT;
            if (cycle % stride == 0) look();
            if (move(true)) return FINISHED;
        }
    }

    // Simulate the operation with a flip at the beginning of cycle `when`: FINISHED with its response, or RUNNING if its state equals the record.
    Outcome again(uint8_t* at, uint8_t bit, uint64_t when, uint64_t limit) {
        cycle = when / stride * stride;
        const uint8_t* from = state();
        for (const Kept& each : kept) std::memcpy(each.data, from, each.size), from += each.size;
        if (cycle <= taken) offer(asked);
        else withdraw();
        answered = false;
        while (cycle < when) move(false);
        *at ^= bit;
        for (;;) {
            if (cycle >= limit) return TIMEOUT;
            if (move(false)) return FINISHED;
            if (cycle % stride == 0 && cycle <= cycle_without && top->istream_val == (cycle <= taken) && same()) return RUNNING;
        }
    }

    uint32_t response[words_of<decltype(VHarness::ostream_msg)>] = {};
    uint64_t cycle_of_answer = 0;

  private:
    struct Kept {
        uint8_t* data;
        std::size_t size;
    };

    // Simulate an operation before the one with the fault; return whether it is answered.
    bool answers(const uint32_t* request) {
        offer(request);
        for (uint64_t i = 0; i < max_cycles; i++) {
            settle();
            const bool fired = top->istream_val && top->istream_rdy;
            const bool done = top->ostream_val;
            edge();
            if (fired) withdraw();
            if (done) return true;
        }
        return false;
    }

    // Simulate one cycle; if the response is offered, return true without the clock edge.
    bool move(bool without) {
        settle();
        const bool fired = top->istream_val && top->istream_rdy;
        if (top->ostream_val) {
            get(top->ostream_msg, response);
            cycle_of_answer = cycle;
            if (without) cycle_without = cycle;
            return true;
        }
        edge();
        if (fired) {
            if (without) taken = cycle;
            withdraw();
        }
        cycle++;
        return false;
    }

    // Record the state of a cycle; for long operations, only of every second, fourth ... cycle.
    void look() {
        if (states.size() + kept_size > MOST_KEPT) {
            const std::size_t count = states.size() / kept_size;
            for (std::size_t i = 0; i < count; i += 2) std::memmove(&states[i / 2 * kept_size], &states[i * kept_size], kept_size);
            states.resize((count + 1) / 2 * kept_size);
            stride *= 2;
            if (cycle % stride) return;
        }
        states.resize((cycle / stride + 1) * kept_size);
        uint8_t* to = state();
        for (const Kept& each : kept) std::memcpy(to, each.data, each.size), to += each.size;
    }

    uint8_t* state() { return &states[cycle / stride * kept_size]; }

    bool same() {
        const uint8_t* was = state();
        for (const Kept& each : kept) {
            if (std::memcmp(each.data, was, each.size)) return false;
            was += each.size;
        }
        return true;
    }

    std::vector<Kept> kept;
    std::vector<uint8_t> states;  // at the beginning of every cycle, or of every `stride` cycles
    std::size_t kept_size = 0;
    uint64_t stride = 1;
    const uint32_t* asked = nullptr;
    const uint32_t* earlier = nullptr;
    int64_t nearlier = 0;
    bool hung = false;
    uint64_t taken = 0, cycle_without = 0;
    uint64_t cycle = 0, max_cycles = 0, rest = 0, cycle_of_fault = 0;
    uint8_t* byte = nullptr;
    uint8_t mask = 0;
    Stay stay = NEVER;
    bool answered = false;
};

}  // namespace

// Verilator treats the flip after a response as a register, which starts with random bits like all others.
API void sim_clear(Driver* sim, const char* scope, const char* name) {
    const Site site = sim->find(scope, name);
    std::memset(site.data, 0, site.size * site.nelements);
}
API void sim_flip(
    Driver* sim, const char* scope, const char* name, int32_t element, int32_t bit, int32_t stay, uint64_t cycle) {
    sim->flip(sim->find(scope, name), element, bit, static_cast<Stay>(stay), cycle);
}
API void sim_before(Driver* sim, int64_t count, const uint32_t* requests) { sim->before(count, requests); }
API void sim_start(Driver* sim, const uint32_t* request, uint64_t max_cycles, uint64_t rest) {
    sim->start(request, max_cycles, rest);
}
API uint64_t sim_answer(Driver* sim, uint32_t* response) {
    std::memcpy(response, sim->response, sizeof sim->response);
    return sim->cycle_of_answer;
}
API void sim_keep(Driver* sim, const char* scope, const char* name) { sim->keep(scope, name); }
API int32_t sim_record(Driver* sim, const uint32_t* request, uint64_t max_cycles) { return sim->record(request, max_cycles); }
API uint8_t* sim_element(Driver* sim, const char* scope, const char* name, int32_t element) {
    return sim->find(scope, name).element(element);
}
// Simulate one operation per flip; return outcomes and responses.
API void sim_campaign(
    Driver* sim, int64_t total, uint8_t* const* bytes, const uint8_t* bits, const uint64_t* when, uint64_t max_cycles, int32_t* outcomes,
    uint32_t* responses, uint64_t* cycles) {
    for (int64_t i = 0; i < total; i++) {
        outcomes[i] = sim->again(bytes[i], bits[i], when[i], max_cycles);
        sim_answer(sim, responses + i * words_of<decltype(VHarness::ostream_msg)>);
        cycles[i] = sim->cycle_of_answer;
    }
}
API void sim_read(Driver* sim, const char* scope, const char* name, int32_t element, uint8_t* to) {
    const Site site = sim->find(scope, name);
    std::memcpy(to, site.element(element), site.size);
}
