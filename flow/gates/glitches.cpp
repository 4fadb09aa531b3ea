// One cycle of a flat netlist with delays: which nets move how often before all is settled.
//
// Event-driven, with the delay of each arc (pin, state of the other pins, edge) and inertial delays: an input that changes the
// function of its gate makes the output change after the delay of its arc, or takes the change back that is still to come. So a
// pulse shorter than the delay of a gate does not pass it. Times are whole ticks (TICK_NS in engine.py); events wait on a wheel with a slot for each tick.
//
// Where the ramps of the nets are known, what their voltages go is counted as well, as a share of the supply (`swings`; a toggle is 1). A net
// goes along straight lines that cross the middle when its event is due; one that turns round before it has arrived has gone only so
// far. A change that is taken back goes nowhere.
//
// The sources are input ports and the outputs of flip-flops. Nets that the clock reaches do not move here.

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
    uint8_t arc[OUTPUTS][INPUTS][1 << INPUTS][2];     // which arc: pin that changed, inputs after that, the output's new level
};

// Mirrored by CELL in engine.py.
struct Cell {
    int32_t kind;
    int32_t in[INPUTS];  // nets, -1 where there is none
    int32_t out[OUTPUTS];
    int32_t arcs;  // where its arcs begin
};

// What moves in a cycle, weighted, by groups of nets.
struct Followed {
    const uint32_t* weights;
    const int32_t* groups;
    uint64_t* sums = nullptr;  // of the cycle; null: nobody asks

    void moved(int32_t net) const {
        if (sums) sums[groups[net]] += weights[net];
    }
};

class Timed {
  public:
    // `ramps` (or null): ticks of a net's whole way, to 0 and to 1.
    Timed(int64_t nets, int64_t count, const Cell* cells, const Kind* kinds, const int32_t* ticks, const int32_t* ramps,
          const int32_t* first, const int32_t* sinks)
        : value(nets), toggles(nets), swings(ramps ? nets : 0), index(count), cells(cells), kinds(kinds), ticks(ticks), ramps(ramps),
          first(first), sinks(sinks), sources(OUTPUTS * count), next(sources + nets), previous(sources + nets),
          due(sources + nets, NEVER), slots(SLOTS, -1), filled(SLOTS / 64), ramp_of(ramps ? nets : 0) {}

    // The settled state from which the next cycle starts.
    void start(const uint8_t* values, const uint8_t* indices) {
        std::copy(values, values + value.size(), value.begin());
        std::copy(indices, indices + index.size(), index.begin());
    }

    // A source moves at this time.
    void change(int32_t net, int32_t time) { put(sources + net, time); }

    // Goes on until nothing moves any more.
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
    uint64_t period = 0;                      // ticks; 0: any
    uint64_t late = 0, latest = 0, events = 0;  // events after the period, time of the last
    Followed followed;

  private:
    static constexpr int64_t SLOTS = 1 << 17;  // more than any delay has ticks
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
                if (level == bool(table >> (at ^ 1 << pin) & 1)) continue;  // in this state the pin decides nothing
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
        double from, begun;  // where it is at that time, on its way to the net's value
        bool moves;
    };

    // A net that has just got its new value, in the middle of a ramp to it.
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
        int32_t& head = slots[slot];  // of a ring: what was there first is first
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

    // The next time, from this one on, at which something is due.
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
    const int32_t sources;  // events of the cells' outputs come first, those of the nets follow
    std::vector<int32_t> next, previous;
    std::vector<int64_t> due;
    std::vector<int32_t> slots;
    std::vector<uint64_t> filled;
    std::vector<Ramp> ramp_of;
    std::vector<int32_t> ramping;
    int64_t waiting = 0;
};

}  // namespace netlist
