// A model whose registers are accessible from outside: the base of the drivers of faults.py and leak.py.
//
// The text of model.cpp precedes it. A site is found by the name of a public signal in Verilator; observed.py has made the signals of the
// design public.

#include "verilated_sym_props.h"
#include "verilated_syms.h"

#include <algorithm>
#include <string>
#include <vector>

namespace {

constexpr int DIMENSIONS = 8;  // of an array, at most; as in sites.py

// Bits of a public signal, or of one of its elements.
struct Site {
    uint8_t* data = nullptr;
    int nbits = 0;
    int nelements = 1;
    std::size_t size = 0;
    std::vector<int> sizes;  // of an array, by dimension

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
        Site site{static_cast<uint8_t*>(var->datap()), static_cast<int>(var->entBits())};
        site.size = words_of_bits(site.nbits);
        for (int dimension = 1; dimension <= var->udims(); dimension++) {
            site.sizes.push_back(var->elements(dimension));
            site.nelements *= site.sizes.back();
        }
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

// The width of a site, or 0 if it does not exist, and the size of each dimension of an array, followed by zeros.
API int32_t sim_site(SiteModel* sim, const char* scope, const char* name, int32_t* sizes) {
    const Site site = sim->find(scope, name);
    if (site.sizes.size() > DIMENSIONS) return 0;
    std::fill_n(std::copy(site.sizes.begin(), site.sizes.end(), sizes), DIMENSIONS - site.sizes.size(), 0);
    return site.nbits;
}
