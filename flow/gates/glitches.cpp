// Simulates one cycle of a flat netlist with delays and counts the transitions of each net until all nets are settled.
//
// The simulation is event-driven, with one delay for each arc (pin, state of the other pins, edge), and delays are inertial: an input
// change that changes the function of its gate schedules an output change after the delay of its arc, or cancels the one that is
// pending. A pulse shorter than the delay of a gate is therefore swallowed. Times are whole ticks (TICK_NS in engine.py); events wait on
// a timing wheel with one slot per tick.
//
// If the ramps of the nets are known, voltage swings are counted as well, as a fraction of the supply (`swings`; a toggle is 1). The
// voltage of a net moves along straight lines that cross half the supply when its event is due; if it reverses before the end of its
// ramp, only the part that it has moved counts. A cancelled change does not move the voltage.
//
// The sources are input ports and the outputs of flip-flops. Nets that the clock reaches are not simulated here.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace netlist {

constexpr int INPUTS = 6, OUTPUTS = 2;
constexpr uint8_t NO_ARC = 255;

// Mirrored by KIND in engine.py.
struct Kind {
    uint64_t table[OUTPUTS];                          // bit i: the output where input k is bit k of i
    uint8_t arc[OUTPUTS][INPUTS][1 << INPUTS][2];     // arc by output, changed pin, inputs after the change, new output level
};

// Mirrored by CELL in engine.py.
struct Cell {
    int32_t kind;
    int32_t in[INPUTS];  // nets, -1 if unconnected
    int32_t out[OUTPUTS];
    int32_t arcs;  // index of its first arc
};

// Weighted transitions of a cycle by group of nets.
struct Followed {
    const uint32_t* weights;
    const int32_t* groups;
    uint64_t* sums = nullptr;  // of the cycle; null: not wanted

    void moved(int32_t net) const {
        if (sums) sums[groups[net]] += weights[net];
    }
};

class Timed {
  public:
    // `ramps`: ticks of a net's full swing to 0 and to 1, or null.
    Timed(int64_t nets, int64_t count, const Cell* cells, const Kind* kinds, const int32_t* ticks, const int32_t* ramps,
          const int32_t* first, const int32_t* sinks)
        : value(nets), toggles(nets), swings(ramps ? nets : 0), index(count), cells(cells), kinds(kinds), ticks(ticks), ramps(ramps),
          first(first), sinks(sinks), sources(OUTPUTS * count), next(sources + nets), previous(sources + nets),
          due(sources + nets, NEVER), slots(SLOTS, -1), filled(SLOTS / 64), ramp_of(ramps ? nets : 0) {}

    // Set the settled state from which the next cycle starts.
    void start(const uint8_t* values, const uint8_t* indices) {
        std::copy(values, values + value.size(), value.begin());
        std::copy(indices, indices + index.size(), index.begin());
    }

    // Schedule a change of a source.
    void change(int32_t net, int32_t time) { put(sources + net, time); }

    // Run until no event is pending.
    void run() {
        int64_t time = 0;
        while (waiting) {
            time = following(time);
            const int32_t event = slots[time & (SLOTS - 1)];
            remove(event);
            events++;
            if (period && uint64_t(time) > period) late++;
            latest = std::max<uint64_t>(latest, time);
            move(event < sources ? cells[event / OUTPUTS].out[event % OUTPUTS] : event - sources, time);
        }
        for (int32_t net : ramping) {
            swings[net] += std::abs(value[net] - ramp_of[net].from);
            ramp_of[net].moves = false;
        }
        ramping.clear();
    }

    std::vector<uint8_t> value;
    std::vector<uint32_t> toggles;
    std::vector<double> swings;
    uint64_t period = 0;                      // ticks; 0: unlimited
    uint64_t late = 0, latest = 0, events = 0;  // events after the period, time of the last
    Followed followed;

  private:
    static constexpr int64_t SLOTS = 1 << 17;  // more than the ticks of any delay
    static constexpr int64_t NEVER = -1;

    void move(int32_t net, int64_t time) {
        value[net] ^= 1;
        toggles[net]++;
        followed.moved(net);
        if (ramps) turn(net, time);
        for (int32_t i = first[net]; i < first[net + 1]; i++) {
            const int32_t c = sinks[i] >> 3, pin = sinks[i] & 7;
            const Cell& cell = cells[c];
            const Kind& kind = kinds[cell.kind];
            const int at = index[c] ^= 1 << pin;
            for (int out = 0; out < OUTPUTS; out++) {
                if (cell.out[out] < 0) continue;
                const uint64_t table = kind.table[out];
                const bool level = table >> at & 1;
                if (level == bool(table >> (at ^ 1 << pin) & 1)) continue;  // in this state the output does not depend on the pin
                const int32_t event = OUTPUTS * c + out;
                if (due[event] != NEVER) {
                    remove(event);
                } else {
                    const uint8_t arc = kind.arc[out][pin][at][level];
                    put(event, time + (arc == NO_ARC ? 1 : ticks[cell.arcs + arc]));
                }
            }
        }
    }

    struct Ramp {
        double from, begun;  // voltage at the time `begun`, when the ramp to the net's value starts
        bool moves;
    };

    // Start the ramp of a net that has just changed; the change is in the middle of the ramp.
    void turn(int32_t net, int64_t time) {
        Ramp& ramp = ramp_of[net];
        const int to = value[net];
        const double begin = time - ramps[2 * net + to] / 2.0;
        double from = 1 - to;
        if (ramp.moves) {
            const double gone = (begin - ramp.begun) / ramps[2 * net + 1 - to];
            from = ramp.from + std::clamp(gone, 0.0, std::abs(1 - to - ramp.from)) * (to ? -1 : 1);
            swings[net] += std::abs(from - ramp.from);
        } else {
            ramping.push_back(net);
        }
        ramp = {from, begin, true};
    }

    void put(int32_t event, int64_t time) {
        const int64_t slot = time & (SLOTS - 1);
        due[event] = time;
        int32_t& head = slots[slot];  // of a ring, in the order of insertion
        if (head < 0) head = next[event] = previous[event] = event;
        const int32_t tail = previous[head];
        next[tail] = previous[head] = event;
        previous[event] = head == event ? event : tail;
        next[event] = head;
        filled[slot / 64] |= uint64_t(1) << slot % 64;
        waiting++;
    }

    void remove(int32_t event) {
        const int64_t slot = due[event] & (SLOTS - 1);
        next[previous[event]] = next[event];
        previous[next[event]] = previous[event];
        if (next[event] == event) slots[slot] = -1;
        else if (slots[slot] == event) slots[slot] = next[event];
        if (slots[slot] < 0) filled[slot / 64] &= ~(uint64_t(1) << slot % 64);
        due[event] = NEVER;
        waiting--;
    }

    // The time of the next event, at or after this time.
    int64_t following(int64_t time) const {
        uint64_t word = filled[(time & (SLOTS - 1)) / 64] >> time % 64;
        while (!word) {
            time += 64 - time % 64;
            word = filled[(time & (SLOTS - 1)) / 64];
        }
        return time + __builtin_ctzll(word);
    }

    std::vector<uint8_t> index;
    const Cell* cells;
    const Kind* kinds;
    const int32_t* ticks;
    const int32_t* ramps;
    const int32_t *first, *sinks;
    const int32_t sources;  // number of events of cell outputs, which precede those of source nets
    std::vector<int32_t> next, previous;
    std::vector<int64_t> due;
    std::vector<int32_t> slots;
    std::vector<uint64_t> filled;
    std::vector<Ramp> ramp_of;
    std::vector<int32_t> ramping;
    int64_t waiting = 0;
};

}  // namespace netlist
