// A model whose registers are accessible from outside: the base of the drivers of faults.py and leak.py.
//
// The text of model.cpp precedes it. A site is found by the name of a public signal in Verilator; sites.py has made the signals of the
// design public.

#include "verilated_sym_props.h"
#include "verilated_syms.h"

#include <algorithm>
#include <string>
#include <vector>

namespace {

// Bits of a public signal, or of one of its elements.
struct Site {
    uint8_t* data = nullptr;
    int nbits = 0;
    int nelements = 0;  // 0: not an array
    std::size_t size = 0;

    uint8_t* element(int at) const { return data + at * size; }
};

class SiteModel : public Model {
  public:
    SiteModel(const char* waves, int seed) : Model(waves, seed) {
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

  protected:
    // Initial inputs: nothing offered, the sink ready, static ports 0.
    void in_reset() {
        top->reset = 1;
        top->istream_val = 0;
        clear(top->istream_msg);
        top->ostream_rdy = 1;
        clear(top->statics);
        top->load_statics = 1;
        top->eval();
        top->load_statics = 0;
        load();
    }

    void offer(const uint32_t* request) {
        top->istream_val = 1;
        put(top->istream_msg, request);
        load();
    }

    void withdraw() {
        top->istream_val = 0;
        clear(top->istream_msg);
        load();
    }

    void load() {
        top->load = 1;
        top->eval();
        top->load = 0;
        top->eval();  // otherwise a second rising edge would not be detected
    }

    void step() {
        settle();
        edge();
    }

  private:
    // sizes of Verilator's types: 1, 2, 4 or 8 bytes, or more words of 4 bytes
    static std::size_t words_of_bits(int nbits) {
        return nbits <= 8 ? 1 : nbits <= 16 ? 2 : nbits <= 32 ? 4 : nbits <= 64 ? 8 : (nbits + 31) / 32 * 4;
    }
};

}  // namespace

// The width of a site, or 0 if it does not exist, and its number of elements (0: not an array).
API int32_t sim_site(SiteModel* sim, const char* scope, const char* name, int32_t* nelements) {
    const Site site = sim->find(scope, name);
    *nelements = site.nelements;
    return site.nbits;
}
