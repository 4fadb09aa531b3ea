// Simulates a flat netlist of library cells from tables: the engine of stage `gates` and of the toggle counts.
//
// Two simulations of one netlist run side by side. `Gates` has no delays: it computes one settled state from the previous one,
// evaluating only cells with changed inputs, level by level. `Timed` (glitches.cpp, whose text precedes this one) follows it in the
// cycles of a window and simulates each transition between two settled states again, with the delay of every arc.
//
// Order of events at a clock edge, as in Verilog: the clock passes its buffers and gates; every flip-flop that receives an edge
// computes its next state from the old values; then all flip-flops change at once; then the logic settles. A clock gate samples its
// enable when its clock rises.
//
// Counting: for nets that the clock reaches, every change counts; any other net is compared between the ends of consecutive
// cycles. A net that rises and falls in one cycle has not toggled, regardless of the order in which the testbench applies its inputs.
// This is the meaning of "functional" here.

namespace netlist {

enum Type : int32_t { FLIP_FLOP, LATCH, CLOCK_GATE };
enum Role { DATA, CLOCK, ASYNCHRONOUS };

// Mirrored by STATE in engine.py.
struct State {
    int32_t type;
    int32_t data[4];  // nets of the inputs of `table`, -1 if unconnected
    uint32_t table;   // the next state
    int32_t clock;    // net
    int32_t active;   // level of the clock after the active edge, or at which a latch is open
    int32_t clear, clear_level;
    int32_t preset, preset_level;
    int32_t q, qn;        // nets, -1 if unconnected
    int32_t ticks[2][2];  // from the clock to q and qn, to 0 and to 1
};

// Mirrored by `_Tables` in engine.py.
struct Tables {
    int64_t net_count, cell_count, state_count, source_count;
    int64_t clock;  // net, -1: none
    const Kind* kinds;
    const Cell* cells;
    const State* states;
    const int32_t* sources;  // nets of the input ports
    const uint8_t* ones;     // by net: tied to 1
    const int32_t* ticks;    // delays of the arcs of all cells; null: without delays
    const int32_t* ramps;    // by net, to 0 and to 1; null: swings are not counted
};

// Mirrored by `_Counts` in engine.py.
struct Counts {
    uint64_t cycles;
    const uint32_t* toggles;
    const uint32_t* timed;  // null: without delays
    const uint64_t* high;   // half cycles
    const uint8_t* clocked; // nets that the clock reaches
    uint64_t late, latest, mismatches, evaluations, events;
    const double* swings;  // with delays and ramps, else null
};

class Gates {
  public:
    Gates(const Tables& t, uint32_t seed)
        : t(t), value(t.net_count), level(t.cell_count), state(t.state_count), latch_queued(t.state_count), clocked(t.net_count), source(t.net_count),
          toggles(t.net_count), high(t.net_count), since(t.net_count), before(t.net_count), touched(t.net_count) {
        connect();
        if (!levelize()) return;
        reach();
        rank_cells();
        for (int64_t net = 0; net < t.net_count; net++) value[net] = t.ones[net];
        for (int64_t i = 0; i < t.state_count; i++) {
            if (seed) {
                seed ^= seed << 13, seed ^= seed >> 17, seed ^= seed << 5;
                state[i] = t.states[i].type != CLOCK_GATE && (seed & 1);
            }
            if (t.states[i].q >= 0) value[t.states[i].q] = state[i];
            if (t.states[i].qn >= 0) value[t.states[i].qn] = !state[i];
        }
        for (int64_t place = 0; place < t.cell_count; place++) {
            const Cell& cell = t.cells[at[place]];
            for (int pin = 0; pin < INPUTS; pin++)
                if (cell.in[pin] >= 0 && value[cell.in[pin]]) index[place] |= 1 << pin;
            queue(place);
        }
        sweep();
        captured.clear();  // levels that settle at the start are not edges
        for (int64_t i = 0; i < t.state_count; i++) {
            if (t.states[i].type == LATCH) queue_latch(i);
            else asynchronous(i);
        }
        settle();
    }

    void set(int32_t net, bool to) {
        if (value[net] == to) return;
        value[net] = to;
        if (counting) note(net);
        const Span& span = readers[net];
        for (const int32_t *sink = ranked.data() + span.first, *end = sink + span.count; sink < end; sink++) {
            index[*sink >> 3] ^= 1 << (*sink & 7);
            queue(*sink >> 3);
        }
        if (span.states) for (int32_t i = state_first[net]; i < state_first[net + 1]; i++) {
            const int32_t s = state_sinks[i] >> 2;
            switch (state_sinks[i] & 3) {
                case CLOCK: clock_changed(s); break;
                case ASYNCHRONOUS: asynchronous(s); break;
                default: queue_latch(s);
            }
        }
    }

    // Set an input at the same time as the flip-flops change at the next edge.
    void defer(int32_t net, bool to) { deferred.push_back({net, to}); }

    void settle() {
        for (;;) {
            sweep();
            if (!latches.empty()) {
                std::vector<int32_t> open;
                open.swap(latches);
                for (int32_t s : open) {
                    latch_queued[s] = 0;
                    if (value[t.states[s].clock] == t.states[s].active) change(s, next(s));
                }
            } else if (!forced.empty()) {
                std::vector<int32_t> states;
                states.swap(forced);
                // clear and preset may both have changed: only their settled values count
                for (int32_t s : states)
                    if (cleared(t.states[s]) || is_preset(t.states[s])) change(s, false);
            } else if (!captured.empty() || !deferred.empty()) {
                std::vector<std::pair<int32_t, bool>> states, nets;
                states.swap(captured), nets.swap(deferred);
                for (auto [s, to] : states) change(s, to);
                for (auto [net, to] : nets) set(net, to);
            } else {
                return;
            }
        }
    }

    // Set the clock to this level; a netlist without a clock has cycles too.
    void clock(bool to) {
        if (clock_level == to) return settle();
        clock_level = to;
        if (to) boundary();
        half++;
        if (t.clock >= 0) set(t.clock, to);
        settle();
    }

    // Count the cycles that begin with rising edges `from` to `to` - 1; with a signal, only those with the signal at 1 before the edge.
    // Clears old counts. `input_ticks`: time of input changes after the edge, or < 0 to count without delays.
    void window(uint64_t from, uint64_t to, int32_t signal, int32_t input_ticks, uint64_t period) {
        window_from = from, window_to = to, window_signal = signal;
        counting = false;
        cycles = evaluations = 0;
        std::fill(toggles.begin(), toggles.end(), 0);
        std::fill(high.begin(), high.end(), 0);
        for (int32_t net : moved) touched[net] = 0;
        moved.clear();
        mismatches = 0;
        timed = nullptr;
        if (input_ticks >= 0) {
            timed = std::make_unique<Timed>(t.net_count, t.cell_count, t.cells, t.kinds, t.ticks, t.ramps, first.data(), sinks.data());
            timed->period = period;
            arrival.assign(2 * t.net_count, input_ticks);
            for (int64_t i = 0; i < t.state_count; i++)
                for (int to = 0; to < 2; to++) {
                    const State& s = t.states[i];
                    if (s.q >= 0) arrival[2 * s.q + to] = s.ticks[0][to];
                    if (s.qn >= 0) arrival[2 * s.qn + to] = s.ticks[1][to];
                }
        }
    }

    // Write `ngroups` sums for each cycle of the window, from its first one on, to `to`, which has room for `room` cycles.
    void follow(const uint32_t* weights, const int32_t* groups, int32_t ngroups, uint64_t* to, uint64_t room) {
        followed = {weights, groups, nullptr};
        sums = to, group_count = ngroups, sum_room = room;
    }

    // Return the counts; ends the window if it is still open.
    void counts(Counts& to) {
        finish();
        stop();
        to = {cycles, toggles.data(), timed ? timed->toggles.data() : nullptr, high.data(), clocked.data(), 0, 0, 0,
              evaluations, 0, timed && t.ramps ? timed->swings.data() : nullptr};
        if (timed) to.late = timed->late, to.latest = timed->latest, to.mismatches = mismatches, to.events = timed->events;
    }

    bool get(int32_t net) const { return value[net]; }
    int32_t loop() const { return loop_net; }
    uint64_t edges = 0;  // rising edges of the clock so far

  private:
    void connect() {
        first.assign(t.net_count + 1, 0);
        state_first.assign(t.net_count + 1, 0);
        const auto every = [&](auto&& comb, auto&& seq) {
            for (int64_t c = 0; c < t.cell_count; c++)
                for (int pin = 0; pin < INPUTS; pin++)
                    if (t.cells[c].in[pin] >= 0) comb(t.cells[c].in[pin], c << 3 | pin);
            for (int64_t i = 0; i < t.state_count; i++) {
                const State& s = t.states[i];
                seq(s.clock, i << 2 | CLOCK);
                if (s.clear >= 0) seq(s.clear, i << 2 | ASYNCHRONOUS);
                if (s.preset >= 0) seq(s.preset, i << 2 | ASYNCHRONOUS);
                if (s.type == LATCH)
                    for (int32_t net : s.data)
                        if (net >= 0) seq(net, i << 2 | DATA);
            }
        };
        every([&](int32_t net, int32_t) { first[net + 1]++; }, [&](int32_t net, int32_t) { state_first[net + 1]++; });
        for (int64_t net = 0; net < t.net_count; net++) first[net + 1] += first[net], state_first[net + 1] += state_first[net];
        sinks.resize(first.back());
        state_sinks.resize(state_first.back());
        std::vector<int32_t> at = first, state_at = state_first;
        every([&](int32_t net, int32_t sink) { sinks[at[net]++] = sink; },
              [&](int32_t net, int32_t sink) { state_sinks[state_at[net]++] = sink; });
        for (int64_t i = 0; i < t.source_count; i++) source[t.sources[i]] = 1;
        for (int64_t i = 0; i < t.state_count; i++) {
            if (t.states[i].q >= 0) source[t.states[i].q] = 1;
            if (t.states[i].qn >= 0) source[t.states[i].qn] = 1;
        }
    }

    // Kahn's order; false if there is a loop.
    bool levelize() {
        std::vector<uint8_t> driven(t.net_count);
        for (int64_t c = 0; c < t.cell_count; c++)
            for (int32_t net : t.cells[c].out)
                if (net >= 0) driven[net] = 1;
        std::vector<int32_t> waiting(t.cell_count), ready;
        for (int64_t c = 0; c < t.cell_count; c++) {
            for (int32_t net : t.cells[c].in) waiting[c] += net >= 0 && driven[net];
            if (!waiting[c]) ready.push_back(c);
        }
        for (std::size_t i = 0; i < ready.size(); i++)
            for (int32_t net : t.cells[ready[i]].out)
                if (net >= 0)
                    for (int32_t k = first[net]; k < first[net + 1]; k++) {
                        const int32_t reader = sinks[k] >> 3;
                        level[reader] = std::max(level[reader], level[ready[i]] + 1);
                        if (!--waiting[reader]) ready.push_back(reader);
                    }
        for (int64_t c = 0; c < t.cell_count; c++)
            if (waiting[c]) {
                for (int32_t net : t.cells[c].out)
                    if (net >= 0) loop_net = net;
                return false;
            }
        return true;
    }

    // Assign places to the cells in the order of their levels, so that a sweep passes through memory once, and store the readers of all
    // nets by place, in the order of their drivers.
    void rank_cells() {
        at.resize(t.cell_count);
        std::iota(at.begin(), at.end(), 0);
        std::stable_sort(at.begin(), at.end(), [&](int32_t a, int32_t b) { return level[a] < level[b]; });
        std::vector<int32_t> place(t.cell_count);
        for (int64_t k = 0; k < t.cell_count; k++) place[at[k]] = k;
        dirty.assign(t.cell_count / 64 + 1, 0);
        index.assign(t.cell_count, 0);
        readers.resize(t.net_count);
        ranked.reserve(sinks.size());
        std::vector<uint8_t> laid(t.net_count);
        const auto lay = [&](int32_t net) {
            if (net < 0 || laid[net]) return;
            laid[net] = 1;
            readers[net] = {int32_t(ranked.size()), first[net + 1] - first[net], state_first[net + 1] > state_first[net]};
            for (int32_t k = first[net]; k < first[net + 1]; k++) ranked.push_back(place[sinks[k] >> 3] << 3 | (sinks[k] & 7));
        };
        for (int64_t i = 0; i < t.state_count; i++) lay(t.states[i].q), lay(t.states[i].qn);
        for (int32_t c : at) {
            const Cell& cell = t.cells[c];
            for (int32_t net : cell.out) lay(net);
            const Kind& kind = t.kinds[cell.kind];
            gates.push_back({{kind.table[0], kind.table[1]}, {cell.out[0], cell.out[1]}});
        }
        for (int64_t net = 0; net < t.net_count; net++) lay(net);
    }

    void queue(int32_t place) {
        dirty[place >> 6] |= uint64_t(1) << (place & 63);
        low = std::min(low, place >> 6);
    }

    // Mark the nets that the clock reaches.
    void reach() {
        if (t.clock < 0) return;
        std::vector<int32_t> ready{int32_t(t.clock)};
        const auto visit = [&](int32_t net) {
            if (net >= 0 && !clocked[net]) clocked[net] = 1, ready.push_back(net);
        };
        clocked[t.clock] = 1;
        for (std::size_t i = 0; i < ready.size(); i++) {
            const int32_t net = ready[i];
            for (int32_t k = first[net]; k < first[net + 1]; k++)
                for (int32_t out : t.cells[sinks[k] >> 3].out) visit(out);
            for (int32_t k = state_first[net]; k < state_first[net + 1]; k++) {
                const State& s = t.states[state_sinks[k] >> 2];
                if (s.type == CLOCK_GATE && (state_sinks[k] & 3) == CLOCK) visit(s.q);
            }
        }
    }

    // Evaluate queued cells; the readers of a cell have higher places than the cell.
    void sweep() {
        const int32_t words = dirty.size();
        for (; low < words; low++)
            while (dirty[low]) {
                const int32_t place = low << 6 | __builtin_ctzll(dirty[low]);
                dirty[low] &= dirty[low] - 1;
                evaluations += counting;
                const Gate& gate = gates[place];
                for (int out = 0; out < OUTPUTS; out++)
                    if (gate.out[out] >= 0) set(gate.out[out], gate.table[out] >> index[place] & 1);
            }
    }

    bool next(int32_t s) const {
        uint32_t at = 0;
        for (int i = 0; i < 4; i++)
            if (t.states[s].data[i] >= 0 && value[t.states[s].data[i]]) at |= 1 << i;
        return t.states[s].table >> at & 1;
    }

    bool cleared(const State& s) const { return s.clear >= 0 && value[s.clear] == s.clear_level; }
    bool is_preset(const State& s) const { return s.preset >= 0 && value[s.preset] == s.preset_level; }

    void change(int32_t i, bool to) {
        const State& s = t.states[i];
        if (s.type != CLOCK_GATE) {
            if (cleared(s)) to = false;
            else if (is_preset(s)) to = true;
        }
        state[i] = to;
        if (s.q >= 0) set(s.q, to);
        if (s.qn >= 0) set(s.qn, !to);
    }

    void clock_changed(int32_t i) {
        const State& s = t.states[i];
        const bool active = value[s.clock] == s.active;
        if (s.type == CLOCK_GATE) change(i, active && next(i));
        else if (s.type == LATCH) queue_latch(i);
        else if (active) captured.push_back({i, next(i)});
    }

    void asynchronous(int32_t i) {
        const State& s = t.states[i];
        if (cleared(s) || is_preset(s)) forced.push_back(i);
        else if (s.type == LATCH) queue_latch(i);
    }

    void queue_latch(int32_t i) {
        if (latch_queued[i]) return;
        latch_queued[i] = 1;
        latches.push_back(i);
    }

    // -- counting

    void note(int32_t net) {
        if (clocked[net]) {
            toggles[net]++;
            followed.moved(net);
            if (!value[net]) high[net] += half - since[net];
            since[net] = half;
        } else if (!touched[net]) {
            touched[net] = 1;
            moved.push_back(net);
        }
    }

    // End a cycle and begin the next one.
    void boundary() {
        finish();
        const bool wanted = edges >= window_from && edges < window_to && (window_signal < 0 || value[window_signal]);
        edges++;
        const uint64_t now = half + 1;
        if (wanted && !counting) {
            counting = true;
            std::fill(since.begin(), since.end(), now);
            before = value;
            if (timed) {
                std::vector<uint8_t> by_cell(t.cell_count);
                for (int64_t place = 0; place < t.cell_count; place++) by_cell[at[place]] = index[place];
                timed->start(value.data(), by_cell.data());
            }
        } else if (!wanted) {
            stop();
        }
        begun = now;
        cycles += counting;
        followed.sums = sums && counting && cycles <= sum_room ? sums + (cycles - 1) * group_count : nullptr;
    }

    // Count the nets that changed in this cycle.
    void finish() {
        if (!counting) return;
        if (timed) {
            timed->followed = followed;
            for (int32_t net : moved)
                if (source[net] && value[net] != before[net]) timed->change(net, arrival[2 * net + value[net]]);
            timed->run();
        }
        for (int32_t net : moved) {
            touched[net] = 0;
            if (value[net] != before[net]) {
                toggles[net]++;
                if (!timed) followed.moved(net);
                if (before[net]) high[net] += begun - since[net];
                since[net] = begun;
                before[net] = value[net];
            }
            if (timed && timed->value[net] != value[net]) mismatches++;
        }
        moved.clear();
    }

    void stop() {
        if (!counting) return;
        counting = false;
        const uint64_t now = half + 1;
        for (int64_t net = 0; net < t.net_count; net++)
            if (clocked[net] ? value[net] : before[net]) high[net] += now - since[net];
    }

    const Tables t;
    struct Gate {
        uint64_t table[OUTPUTS];
        int32_t out[OUTPUTS];
    };
    struct Span {
        int32_t first, count;
        bool states;  // registers or clock gates read it too
    };
    std::vector<uint8_t> value, index;  // of nets; of cells by place: the input values as a number
    std::vector<int32_t> level, at;     // by cell; the cells by place
    std::vector<Gate> gates;            // by place
    std::vector<Span> readers;          // of each net: ranked[first .. first + count]
    std::vector<int32_t> ranked;        // place << 3 | pin
    std::vector<uint64_t> dirty;        // places to evaluate
    std::vector<uint8_t> state, latch_queued, clocked, source;
    std::vector<uint32_t> toggles;
    std::vector<uint64_t> high, since;
    std::vector<uint8_t> before, touched;
    std::vector<int32_t> first, sinks, state_first, state_sinks;  // of each net: sinks[first[net] .. first[net + 1]]
    int32_t low = 0;                                              // no lower word of `dirty` has a bit set
    std::vector<int32_t> latches, forced, moved, arrival;
    std::vector<std::pair<int32_t, bool>> captured, deferred;
    std::unique_ptr<Timed> timed;
    Followed followed{};
    uint64_t* sums = nullptr;
    uint64_t group_count = 0, sum_room = 0;
    int32_t loop_net = -1;
    bool counting = false, clock_level = false;
    uint64_t window_from = 0, window_to = 0, half = 0, begun = 0, cycles = 0, evaluations = 0, mismatches = 0;
    int32_t window_signal = -1;
};

}  // namespace netlist

#define GATES_API extern "C" __attribute__((visibility("default")))

using netlist::Gates;

GATES_API Gates* gates_new(const netlist::Tables* tables, uint32_t seed) { return new Gates(*tables, seed); }
GATES_API void gates_delete(Gates* gates) { delete gates; }
GATES_API int32_t gates_loop(const Gates* gates) { return gates->loop(); }
GATES_API void gates_set(Gates* gates, int32_t net, int32_t to) { gates->set(net, to); }
GATES_API void gates_defer(Gates* gates, int32_t net, int32_t to) { gates->defer(net, to); }
GATES_API void gates_settle(Gates* gates) { gates->settle(); }
GATES_API void gates_clock(Gates* gates, int32_t to) { gates->clock(to); }
GATES_API int32_t gates_get(const Gates* gates, int32_t net) { return gates->get(net); }
GATES_API uint64_t gates_edges(const Gates* gates) { return gates->edges; }
GATES_API void gates_window(Gates* gates, uint64_t from, uint64_t to, int32_t signal, int32_t input_ticks, uint64_t period) {
    gates->window(from, to, signal, input_ticks, period);
}
GATES_API void gates_follow(
    Gates* gates, const uint32_t* weights, const int32_t* groups, int32_t ngroups, uint64_t* to, uint64_t room) {
    gates->follow(weights, groups, ngroups, to, room);
}
GATES_API void gates_counts(Gates* gates, netlist::Counts* to) { gates->counts(*to); }
