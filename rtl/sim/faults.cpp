// The driver of faults.py: one operation on a fresh model, with one bit flipped.
//
// The text of model.cpp comes before it. A site is found by the name that Verilator keeps of a public signal; the text of the design
// was made ready for it by faults.py. A request is offered from cycle 0 on, the first after reset; the sink is always ready.

#include "verilated_sym_props.h"
#include "verilated_syms.h"

#include <string>

namespace {

// Bits of a public signal, or of one of its elements.
struct Site {
    uint8_t* data = nullptr;
    int nbits = 0;
    int nelements = 0;  // 0: it is no array
    std::size_t size = 0;

    uint8_t* element(int at) const { return data + at * size; }
};

// How long a flip stays.
enum Stay : int32_t { NEVER, UNTIL_WRITTEN, A_CYCLE, FOR_GOOD };

class FaultDriver : public Model {
  public:
    FaultDriver(const char* waves, int seed) : Model(waves, seed) {
        top->load = top->load_statics = 0;
        top->eval();
    }

    Site find(const char* scope, const char* name) {
        const VerilatedScope* const found = context.scopeFind(scope);
        VerilatedVar* const var = found ? found->varFind(name) : nullptr;
        if (!var) return {};
        Site site{static_cast<uint8_t*>(var->datap()), static_cast<int>(var->entBits()), 0, 0};
        site.size = words_of_bits(site.nbits);
        if (var->udims()) site.nelements = std::abs(var->left(1) - var->right(1)) + 1;
        return site;
    }

    void flip(const Site& site, int element, int bit, Stay how, uint64_t when) {
        byte = site.element(element) + bit / 8;
        mask = static_cast<uint8_t>(1 << bit % 8);
        stay = how;
        cycle_of_fault = when;
    }

    void start(const uint32_t* request, uint64_t limit, uint64_t more) {
        max_cycles = limit;
        rest = more;
        top->reset = 1;
        top->istream_val = 0;
        clear(top->istream_msg);
        top->ostream_rdy = 1;
        clear(top->statics);
        top->load_statics = 1;
        top->eval();
        top->load_statics = 0;
        load();
        if (stay == FOR_GOOD) *byte ^= mask;
        for (int i = 0; i < 2; i++) step();
        top->reset = 0;
        top->istream_val = 1;
        put(top->istream_msg, request);
        load();
    }

    Outcome advance(uint64_t budget) override {
        for (const uint64_t stop = cycle + budget; cycle < stop;) {
            if (!answered && cycle >= max_cycles) return TIMEOUT;
            if (answered && cycle > cycle_of_answer + rest) return FINISHED;
            const bool flips = cycle == cycle_of_fault && (stay == UNTIL_WRITTEN || stay == A_CYCLE);
            if (flips) *byte ^= mask;
            clock(0);
            const bool fired = top->istream_val && top->istream_rdy;
            if (top->ostream_val && !answered) {
                answered = true;
                cycle_of_answer = cycle;
                get(top->ostream_msg, response);
            }
            if (answered && cycle == cycle_of_answer + rest) return FINISHED;  // before the edge: the state is seen as it is
            clock(1);
            if (flips && stay == A_CYCLE) *byte ^= mask;
            if (fired) {
                top->istream_val = 0;
                clear(top->istream_msg);
                load();
            }
            cycle++;
        }
        return RUNNING;
    }

    uint32_t response[words_of<decltype(VHarness::ostream_msg)>] = {};
    uint64_t cycle_of_answer = 0;

  private:
    // Verilator's types: 1, 2, 4, 8 bytes, and then as many words of 4 as there must be
    static std::size_t words_of_bits(int nbits) {
        return nbits <= 8 ? 1 : nbits <= 16 ? 2 : nbits <= 32 ? 4 : nbits <= 64 ? 8 : (nbits + 31) / 32 * 4;
    }

    void load() {
        top->load = 1;
        top->eval();
        top->load = 0;
    }

    void step() {
        clock(0);
        clock(1);
    }

    uint64_t cycle = 0, max_cycles = 0, rest = 0, cycle_of_fault = 0;
    uint8_t* byte = nullptr;
    uint8_t mask = 0;
    Stay stay = NEVER;
    bool answered = false;
};

std::unique_ptr<Model> make_driver(const char* waves, int seed) {
    return std::make_unique<FaultDriver>(waves, seed);
}

FaultDriver* of(Model* sim) { return static_cast<FaultDriver*>(sim); }

}  // namespace

// Bits of a site, and how many elements it has (0: it is no array); 0 if there is none.
API int32_t sim_site(Model* sim, const char* scope, const char* name, int32_t* nelements) {
    const Site site = of(sim)->find(scope, name);
    *nelements = site.nelements;
    return site.nbits;
}
// A flip behind an answer is a register to Verilator, and starts with random bits as all of them.
API void sim_clear(Model* sim, const char* scope, const char* name) {
    const Site site = of(sim)->find(scope, name);
    std::memset(site.data, 0, site.size);
}
API void sim_flip(
    Model* sim, const char* scope, const char* name, int32_t element, int32_t bit, int32_t stay, uint64_t cycle) {
    of(sim)->flip(of(sim)->find(scope, name), element, bit, static_cast<Stay>(stay), cycle);
}
API void sim_start(Model* sim, const uint32_t* request, uint64_t max_cycles, uint64_t rest) {
    of(sim)->start(request, max_cycles, rest);
}
API uint64_t sim_answer(Model* sim, uint32_t* response) {
    std::memcpy(response, of(sim)->response, sizeof of(sim)->response);
    return of(sim)->cycle_of_answer;
}
API void sim_read(Model* sim, const char* scope, const char* name, int32_t element, uint8_t* to) {
    const Site site = of(sim)->find(scope, name);
    std::memcpy(to, site.element(element), site.size);
}
