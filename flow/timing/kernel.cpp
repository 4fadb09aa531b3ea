// Inner loops of the timing graph (graph.py) and of the sizing model: table look-up at many points, and passes over all arcs.
//
// Arcs are sorted by level and then by end node. A forward pass therefore reaches each node after all of its predecessors, and a
// backward pass after all of its successors. Sums and products are in the same order as in liberty.py, so that results are equal.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#define API extern "C" __attribute__((visibility("default")))

namespace {
constexpr double INF = std::numeric_limits<double>::infinity();
}

// Mirrors `TablesOfC` in kernel.py: tables of width x width values, with axes padded with infinity. The number -1 - k denotes group k,
// whose value is the maximum over its members.
struct Tables {
    int64_t count, width;
    const double *first, *second, *values;  // axes and grids
    const int64_t *places;                  // by table: points of the first axis, points of the second
    const int64_t *begin, *members;         // group k: members[begin[k]] to members[begin[k + 1] - 1]
};

namespace {
inline int64_t interval(const double* axis, int64_t points, double at, double& within) {
    int64_t place = 0;
    while (place < points - 2 && at >= axis[place + 1]) place++;
    within = (at - axis[place]) / (axis[place + 1] - axis[place]);
    return place;
}

inline double one(const Tables& t, int64_t number, double a, double b) {
    double x, y;
    const int64_t w = t.width;
    const int64_t i = interval(t.first + number * w, t.places[2 * number], a, x);
    const int64_t j = interval(t.second + number * w, t.places[2 * number + 1], b, y);
    const double* v = t.values + number * w * w + i * w + j;
    return (v[0] * (1 - x) + v[w] * x) * (1 - y) + (v[1] * (1 - x) + v[w + 1] * x) * y;
}

inline double at(const Tables& t, int64_t number, double a, double b) {
    if (number >= 0) return one(t, number, a, b);
    const int64_t group = -1 - number;
    double worst = -INF;
    for (int64_t k = t.begin[group]; k < t.begin[group + 1]; k++) worst = std::max(worst, one(t, t.members[k], a, b));
    return worst;
}
}  // namespace

API void look_up(const Tables* t, int64_t n, const int64_t* numbers, const double* a, const double* b, double* out) {
    for (int64_t k = 0; k < n; k++) out[k] = at(*t, numbers[k], a[k], b[k]);
}

// Mirrors `ArcsOfC` in kernel.py.
struct Arcs {
    int64_t count;
    const int64_t *start, *end, *delay_table, *slew_table;
    const double* wire;
    const uint8_t* ideal;  // by node
    const double* derate;  // by arc
    double clock_slew;
};

namespace {
// The derated delay of an arc: late for setup, early for hold.
inline double delayed(const Tables& t, const Arcs& arcs, int64_t k, double slew, double load, bool earliest = false) {
    const double share = 1 + (earliest ? -arcs.derate[k] : arcs.derate[k]);
    return share * at(t, arcs.delay_table[k], slew, load);
}
}  // namespace

// Compute slew and arrival at the end of every arc: the latest, or the earliest.
API void propagate(const Tables* t, const Arcs* arcs, int64_t earliest, const double* load, double* slew, double* arrival,
                   double* arc_delay, double* arc_slew) {
    for (int64_t k = 0; k < arcs->count;) {
        const int64_t end = arcs->end[k];
        double s = 0, a = 0;
        for (bool begun = false; k < arcs->count && arcs->end[k] == end; k++, begun = true) {
            const int64_t start = arcs->start[k];
            double delay = 0, out = arcs->clock_slew;
            if (!arcs->ideal[end]) {
                delay = delayed(*t, *arcs, k, slew[start], load[end], earliest);
                out = at(*t, arcs->slew_table[k], slew[start], load[end]);
            }
            arc_delay[k] = delay, arc_slew[k] = out;
            const double when = arrival[start] + arcs->wire[k] + delay;
            if (!begun) s = out, a = when;
            else if (earliest) s = std::min(s, out), a = std::min(a, when);
            else s = std::max(s, out), a = std::max(a, when);
        }
        slew[end] = s, arrival[end] = a;
    }
}

// Propagate required times back from the endpoints, and compute the slack of each edge at each input pin.
API void required(const Arcs* arcs, const double* arc_delay, const double* arrival, const int64_t* sink, double* needed,
                  double* sink_slack) {
    for (int64_t k = arcs->count - 1; k >= 0; k--) {
        const int64_t start = arcs->start[k];
        needed[start] = std::min(needed[start], needed[arcs->end[k]] - arc_delay[k] - arcs->wire[k]);
    }
    for (int64_t k = 0; k < arcs->count; k++) {
        const int64_t start = arcs->start[k];
        if (sink[k] < 0) continue;  // the arc starts at another output of the cell
        const double slack = needed[arcs->end[k]] - arc_delay[k] - arcs->wire[k] - arrival[start];
        double& worst = sink_slack[2 * sink[k] + start % 2];
        if (std::isfinite(slack) && slack < worst) worst = slack;
    }
}

// Compute the sensitivity of the delay to slew and to load at each node, along its critical arcs.
API void derive(const Tables* t, const Arcs* arcs, const double* load, const double* slew, const double* arrival,
                const double* needed, const double* arc_delay, const double* arc_slew, double step_ns, double step_ff,
                double* by_slew, double* by_load) {
    constexpr double NEAR = 1e-6;
    for (int64_t k = 0; k < arcs->count; k++) {
        const int64_t start = arcs->start[k], end = arcs->end[k];
        if (arcs->ideal[end] || !(needed[end] - arc_delay[k] - arcs->wire[k] <= needed[start] + NEAR)) continue;
        const double effect = (delayed(*t, *arcs, k, slew[start] + step_ns, load[end]) - arc_delay[k]) / step_ns;
        by_slew[start] = std::max(by_slew[start], effect);
    }
    for (int64_t k = 0; k < arcs->count; k++) {
        const int64_t start = arcs->start[k], end = arcs->end[k];
        if (!(arrival[start] + arcs->wire[k] + arc_delay[k] >= arrival[end] - NEAR)) continue;
        const double more = load[end] + step_ff;
        const double delay = (delayed(*t, *arcs, k, slew[start], more) - arc_delay[k]) / step_ff;
        const double out = (at(*t, arcs->slew_table[k], slew[start], more) - arc_slew[k]) / step_ff;
        by_load[end] = std::max(by_load[end], delay + out * by_slew[end]);
    }
}
