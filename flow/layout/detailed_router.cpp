// Detailed routing on a grid by negotiated congestion (McMurchie and Ebeling, PathFinder, FPGA 1995), with local repair of conflicts.
//
// A node is a crossing of tracks on a layer. A net covers its nodes and all nodes along their tracks within the minimum distance of two
// nets. A node that other nets cover costs extra. Its price rises each round, and with the number of earlier conflicts there, until no
// node of a net is covered by another net.
//
// The first round routes all nets, short ones first because they have the fewest alternatives. Each pin is connected by A* from the
// whole tree so far, near the global route. Nodes in crowded bins cost more, so long nets move to emptier layers before conflicts
// arise. All later rounds are repairs: they remove the nodes of a net that other nets cover and a few around them, and join the ends
// again in a window slightly wider than the hole. The time of a round therefore depends on the number of conflicts and not on the
// length of the nets. A net that remains in conflict is rerouted as a whole from time to time. Holes and windows also grow with the
// number of rounds: in the last rounds, nets displace one another repeatedly, each in conflict for only one round, and the crowded
// place empties only if one of them may make a long detour.
//
// After the last conflict, antenna violations are repaired. While a layer is etched, its metal charges the gates that this layer and
// the layers below connect, unless they also connect a diffusion. A pin with too much metal gets a jumper, the shortest path up to the
// highest layer, and the rest of its net connects to the upper end. A net keeps clear of the lower parts of all jumpers, its own too.
//
// The marks of all bins of a window are contiguous in memory, wherever the bins are on the die, so that they stay in the cache.
//
// Input (numbers on stdin):
//   nx and the x of all columns; ny and the y of all rows; number of layers
//   per layer: vertical; least distance of two nets along a track; the same at a node that only vias use, if these need more metal
//   (else 0); length of a via's metal; antenna limit as wire length per um^2 of gate (0: none); whether wire of lower layers counts
//   towards the limit; for each column and each row, whether it has nodes
//   per pair of adjacent layers: least distance of two vias of one net in a line
//   blocked nodes (layer i j), too close to existing metal; nodes of metal that has no room for its least area, around which all
//   nodes cost more
//   maximum number of rounds; limit in seconds of CPU time; number of nets
//   per net: its pins; per pin, the area of its gate in units of 100 nm^2 (-1: a diffusion) and its nodes (layer i j); the segments
//   of its global route, by their ends (i j i j); its wires and vias from an earlier run, kept unless they are near metal without room
// Output: number of remaining conflicts, rounds; per net: for each pin, the index of its connected node; the number of wires and vias,
// and the two nodes of each. On stderr: "first N OF", the progress of the first round in nets, and "round NUMBER LEFT" after each round.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <utility>
#include <vector>

namespace {

constexpr float VIA = 900;  // cost as wire length in units of x and y (0.5 nm): a detour of two or three tracks
constexpr float STACKED = 3 * VIA;  // a via stacked on another, if the layer between them needs more metal than the vias have
// Weight of the A* estimate. For 12,700 cells, a weight of 1 takes half as long again and saves 0.05 % of the wire; 1.3 takes a fifth
// less time and adds 40 % more vias.
constexpr float NEARER = 1.1f;
// The memory of conflicts grows slowly, because nets would otherwise avoid a contested node at any cost. It grows fast once only
// LAST_NETS are left, which would otherwise keep displacing one another.
constexpr float FIRST_PRICE = 6, PRICE_GROWTH = 1.3f, MOST_PRICE = 40, MEMORY = 8, LAST_MEMORY = 40;
constexpr float CRAMPED = 40;  // added to a node's memory each time that nearby metal has no room for its least area
constexpr size_t LAST_NETS = 8;
constexpr float AT_A_PIN = 1;  // initial memory of the nodes of a pin, in total: it keeps other nets from blocking the access to the pin
// Congestion price of a layer of a bin: CROWDED times the covered share of its nodes beyond CROWDED_FROM, times CALMER each round.
constexpr float CROWDED_FROM = 0.4f, CROWDED = 2, CALMER = 0.5f;
constexpr int BIN = 16;                              // columns and rows of a bin
constexpr int AROUND_PIN = 2;                        // bins around the box from a pin to the nearest node of its net's tree
constexpr int WIDER_AFTER = 6, MOST_AROUND = 200;    // rounds in conflict per bin of margin around a rerouted net; maximum margin
constexpr int MORE_HOPS = 3, MOST_HOPS = 200;        // radius in hops of what is removed around a conflict: increment per round, and maximum
constexpr int MARGIN = 6, MOST_MARGIN = 250;         // columns and rows of the window around a hole: increment per round, and maximum
constexpr int OF_ALL_ROUNDS = 3;                     // rounds of the router that count as one round in conflict of every net
constexpr int GIVEN_UP = 600;                        // margin beyond which the repair of a hole is abandoned
constexpr int ISLAND = 60;                           // nodes of the smallest piece without a pin that is kept
constexpr int ANEW_EACH = 10, ANEW_NODES = 3000;     // rounds in conflict until a net of at most so many nodes is rerouted
constexpr float STEP = 160;                          // range of the estimates in one bucket
constexpr size_t BUCKETS = 1 << 14;                  // entries beyond the last bucket are in a heap
constexpr int MOST_JUMPERS = 5;                      // how many times a net may get jumpers
constexpr double GATE = 1e-4;                        // um^2, the unit of gate areas
constexpr int TOLD = 1000;                           // nets between two progress reports of the first round

using Edge = std::pair<int, int>;

struct Layer {
    int vertical, clear;
    int alone;                      // replaces `clear` at a node that only vias use, if these need more metal; otherwise 0
    int pad;                        // length of a via's metal
    double bears;                   // antenna limit: wire length per um^2 of gate; 0: none
    bool sums;                      // whether the limit includes the wire of lower layers
    std::vector<char> column, row;  // whether the layer has nodes there
    std::vector<int> next, last;    // along a track: the next and the previous stop of each, or -1
};

// State of a node in a search; marks from an older search or window are invalid.
struct Mark {
    float cost = 0;
    int from = -1;
    unsigned seen = 0, closed = 0;  // number of the search
    unsigned wanted = 0, cut = 0;   // number of the window: the search may end here; the net has a via to the next layer here
};

// Demand for a node: the number of nets that cover it, and the memory of their conflicts.
struct Demand {
    float memory = 0;
    int cover = 0;
    bool blocked = false;  // too close to existing metal for any net
    bool cramped = false;  // near metal without room for its least area
};

struct Box {
    int low_i = 1 << 30, low_j = 1 << 30, high_i = -1, high_j = -1;
    void add(int i, int j) {
        low_i = std::min(low_i, i), high_i = std::max(high_i, i);
        low_j = std::min(low_j, j), high_j = std::max(high_j, j);
    }
};

struct Net {
    std::vector<std::vector<int>> pins;
    std::vector<int> gates;      // gate area of each pin
    std::vector<char> jumps;     // whether each pin gets a jumper; empty: none does
    int mended = 0;              // how many times the net got jumpers
    std::vector<Box> guide;      // the global route, in bins
    std::vector<int> nodes;      // of its tree
    std::vector<int> covered;    // nodes, and nodes too close to them
    std::vector<Edge> edges;
    int in_conflict = 0;         // rounds
    bool lost = true;            // it has no tree
};

struct Entry {
    int node, mark;
    float cost, estimate;
    bool operator<(const Entry& other) const { return estimate > other.estimate; }  // the cheapest entry is first in a heap
};

int nx, ny, layer_count, per_bin, bin_columns, bin_rows;
std::vector<int> xs, ys;
std::vector<Layer> layers;
std::vector<int> apart;
std::vector<Net> nets;
std::vector<Demand> demands;
// by bin and layer: covered nodes, all nodes, congestion price
std::vector<int> used, room;
std::vector<float> crowd;
float present = FIRST_PRICE, crowded = CROWDED;
// by bin: the last window that it was part of, and the place of its marks there
std::vector<unsigned> bin_window;
std::vector<int> bin_slot;
std::vector<int> window_bins;
std::vector<int> outer_cuts;  // vias of the net outside the window, in order
unsigned window = 0, search = 0;
std::vector<Mark> marks;
std::vector<std::vector<Entry>> buckets(BUCKETS);
std::vector<Entry> dear;  // a heap

int read() {
    int value = 0;
    if (std::scanf("%d", &value) != 1) std::exit(2);
    return value;
}

// The nodes of a bin have consecutive numbers, layer by layer.
int node(int layer, int i, int j) {
    return ((j / BIN * bin_columns + i / BIN) * layer_count + layer) * (BIN * BIN) + j % BIN * BIN + i % BIN;
}
int bin_of(int n) { return n / per_bin; }
int bin_layer(int n) { return n / (BIN * BIN); }
int layer_of(int n) { return n % per_bin / (BIN * BIN); }
int i_of(int n) { return bin_of(n) % bin_columns * BIN + n % BIN; }
int j_of(int n) { return bin_of(n) / bin_columns * BIN + n / BIN % BIN; }

template <class T>
void tidy(std::vector<T>& all) {
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
}

void count_crowd(int at) {
    const float over = float(used[at]) / float(std::max(room[at], 1)) - CROWDED_FROM;
    crowd[at] = over > 0 ? crowded * over : 0;
}

void cover(const Net& net, int sign) {
    for (int n : net.covered) demands[n].cover += sign, used[bin_layer(n)] += sign;
    int before = -1;
    for (int n : net.covered)
        if (const int at = bin_layer(n); at != before) count_crowd(at), before = at;
}

// These nodes of a net, and all nodes too close to them for another net.
std::vector<int> reach(const std::vector<int>& nodes, const std::vector<Edge>& edges) {
    std::vector<int> covered = nodes;
    std::vector<int> on_wires;  // nodes on a wire, as opposed to nodes that only vias use
    for (const auto& [a, b] : edges)
        if (layer_of(a) == layer_of(b)) on_wires.push_back(a), on_wires.push_back(b);
    tidy(on_wires);
    for (int n : nodes) {
        const int layer = layer_of(n), i = i_of(n), j = j_of(n);
        const Layer& own = layers[layer];
        const auto& places = own.vertical ? ys : xs;
        const int here = own.vertical ? j : i;
        const bool alone = own.alone && !std::binary_search(on_wires.begin(), on_wires.end(), n);
        const int clear = alone ? own.alone : own.clear;
        for (const auto* way : {&own.next, &own.last})
            for (int k = (*way)[here]; k >= 0 && std::abs(places[k] - places[here]) < clear; k = (*way)[k])
                covered.push_back(own.vertical ? node(layer, i, k) : node(layer, k, j));
    }
    tidy(covered);
    return covered;
}

void claim(Net& net) {
    net.covered = reach(net.nodes, net.edges);
    cover(net, 1);
}

void release(Net& net) {
    cover(net, -1);
    net.covered.clear();
}

bool conflicts(const Net& net) {
    return std::any_of(net.nodes.begin(), net.nodes.end(), [](int n) { return demands[n].cover > 1; });
}

void open_window() { window++, window_bins.clear(), outer_cuts.clear(); }
void add_bins(int low_i, int low_j, int high_i, int high_j) {
    for (int j = std::max(low_j, 0); j <= std::min(high_j, bin_rows - 1); j++)
        for (int i = std::max(low_i, 0); i <= std::min(high_i, bin_columns - 1); i++) {
            const int bin = j * bin_columns + i;
            if (bin_window[bin] == window) continue;
            bin_window[bin] = window;
            bin_slot[bin] = int(window_bins.size());
            window_bins.push_back(bin);
        }
    if (const size_t size = window_bins.size() * per_bin; marks.size() < size) marks.resize(size * 3 / 2);
}
bool inside(int n) { return bin_window[bin_of(n)] == window; }
int mark_at(int n) { return bin_slot[bin_of(n)] * per_bin + n % per_bin; }

void mark_cut(const Edge& edge) {
    const auto [a, b] = edge;
    if (layer_of(a) == layer_of(b)) return;
    if (inside(std::min(a, b)))
        marks[mark_at(std::min(a, b))].cut = window;
    else
        outer_cuts.push_back(std::min(a, b));
}

// Whether a via from node n at (i, j) to another layer would be too close to a via of the same net, in its tree or on the path to n.
bool too_near(int n, int layer, int i, int j, int other_layer) {
    const int cut = std::min(layer, other_layer), far = apart[cut];
    auto taken = [&](int a, int b) {
        const int other = node(cut, a, b);
        if (inside(other)) return marks[mark_at(other)].cut == window;
        return std::binary_search(outer_cuts.begin(), outer_cuts.end(), other);
    };
    for (int k = j + 1; k < ny && ys[k] - ys[j] < far; k++)
        if (taken(i, k)) return true;
    for (int k = j - 1; k >= 0 && ys[j] - ys[k] < far; k--)
        if (taken(i, k)) return true;
    for (int k = i + 1; k < nx && xs[k] - xs[i] < far; k++)
        if (taken(k, j)) return true;
    for (int k = i - 1; k >= 0 && xs[i] - xs[k] < far; k--)
        if (taken(k, j)) return true;
    for (int step = n, before; (before = marks[mark_at(step)].from) >= 0; step = before) {
        const int a = i_of(before), b = j_of(before);
        if (std::abs(xs[a] - xs[i]) >= far || std::abs(ys[b] - ys[j]) >= far) return false;
        if (layer_of(before) != layer_of(step) && std::min(layer_of(before), layer_of(step)) == cut && (a == i) != (b == j))
            return true;
    }
    return false;
}

// Price of a node per unit of length: 1, plus its current conflicts, its memory of conflicts and the congestion of its bin.
float price(int n) { return 1 + present * float(demands[n].cover) + demands[n].memory + crowd[bin_layer(n)]; }

// Estimate of the congestion price in a window: the average over its bins of the emptiest layer of each direction.
float least_crowd() {
    float sum = 0;
    for (int bin : window_bins) {
        float least[2] = {CROWDED, CROWDED};
        for (int layer = 0; layer < layer_count; layer++) {
            float& own = least[layers[layer].vertical];
            own = std::min(own, crowd[bin * layer_count + layer]);
        }
        sum += (least[0] + least[1]) / 2;
    }
    return sum / float(window_bins.size());
}

// The target nodes of a search.
struct Goal {
    Box box;
    float weight = 0;
    int low_layer = 1 << 30, high_layer = -1;

    void add(int n) {
        box.add(i_of(n), j_of(n));
        low_layer = std::min(low_layer, layer_of(n)), high_layer = std::max(high_layer, layer_of(n));
        marks[mark_at(n)].wanted = window;
    }
    float far(int layer, int i, int j) const {
        const int across = std::max({xs[box.low_i] - xs[i], xs[i] - xs[box.high_i], 0});
        const int along = std::max({ys[box.low_j] - ys[j], ys[j] - ys[box.high_j], 0});
        const int up = std::max({low_layer - layer, layer - high_layer, 0});
        return weight * (float(across + along) + VIA * float(up));
    }
};

// The cheapest path from any source to any target node, in reverse order; empty if the window contains none.
std::vector<int> find(const std::vector<int>& sources, Goal& goal, bool at_a_pin) {
    std::vector<int> way;
    search++;
    tidy(outer_cuts);
    goal.weight = NEARER * (1 + least_crowd());
    std::vector<Entry> begin;
    for (int n : sources) {
        if (!inside(n)) continue;
        const float cost = at_a_pin ? VIA * price(n) : 0;
        const int m = mark_at(n);
        marks[m].cost = cost, marks[m].from = -1, marks[m].seen = search;
        begin.push_back({n, m, cost, cost + goal.far(layer_of(n), i_of(n), j_of(n))});
    }
    if (begin.empty()) return way;
    const float least = std::max_element(begin.begin(), begin.end())->estimate;
    size_t lowest = 0, highest = 0;
    auto push = [&](const Entry& entry) {
        const float bucket = std::max(entry.estimate - least, 0.0f) / STEP;
        if (bucket >= float(BUCKETS)) {
            dear.push_back(entry);
            std::push_heap(dear.begin(), dear.end());
            return;
        }
        buckets[size_t(bucket)].push_back(entry);
        lowest = std::min(lowest, size_t(bucket)), highest = std::max(highest, size_t(bucket));
    };
    for (const Entry& entry : begin) push(entry);
    while (true) {
        while (lowest <= highest && buckets[lowest].empty()) lowest++;
        auto& bucket = lowest <= highest ? buckets[lowest] : dear;
        if (bucket.empty()) break;
        if (lowest > highest) std::pop_heap(dear.begin(), dear.end());
        const Entry top = bucket.back();
        bucket.pop_back();
        const int n = top.node;
        Mark& mark = marks[top.mark];
        if (mark.cost != top.cost || mark.closed == search) continue;
        mark.closed = search;
        if (mark.wanted == window) {
            for (int step = n; step >= 0; step = marks[mark_at(step)].from) way.push_back(step);
            break;
        }
        const int layer = layer_of(n), i = i_of(n), j = j_of(n);
        auto offer = [&](int other_layer, int a, int b, float length) {
            const int other = node(other_layer, a, b);
            if (!inside(other) || demands[other].blocked) return;
            const int m = mark_at(other);
            Mark& next = marks[m];
            const float cost = top.cost + length * price(other);
            if (next.seen == search && (next.closed == search || next.cost <= cost)) return;
            if (other_layer != layer && too_near(n, layer, i, j, other_layer)) return;
            next.cost = cost, next.from = n, next.seen = search;
            push({other, m, cost, cost + goal.far(other_layer, a, b)});
        };
        const Layer& own = layers[layer];
        const bool stacked = own.alone && mark.from >= 0 && layer_of(mark.from) != layer;
        for (const auto* along : {&own.next, &own.last})
            if (const int k = (*along)[own.vertical ? j : i]; k >= 0) {
                if (own.vertical)
                    offer(layer, i, k, float(std::abs(ys[k] - ys[j])));
                else
                    offer(layer, k, j, float(std::abs(xs[k] - xs[i])));
            }
        for (int other : {layer - 1, layer + 1})
            if (other >= 0 && other < layer_count && layers[other].column[i] && layers[other].row[j])
                offer(other, i, j, stacked ? STACKED : VIA);
    }
    for (; lowest <= highest; lowest++) buckets[lowest].clear();
    dear.clear();
    return way;
}

void add_way(const std::vector<int>& way, std::vector<Edge>& edges) {
    for (size_t k = 1; k < way.size(); k++) edges.push_back(std::minmax(way[k - 1], way[k]));
}

// Add the bins of a net's global route that lie in a box, with a margin.
void add_guide(const Net& net, const Box& box, int around) {
    for (const Box& piece : net.guide)
        add_bins(std::max(piece.low_i, box.low_i) - around, std::max(piece.low_j, box.low_j) - around,
                 std::min(piece.high_i, box.high_i) + around, std::min(piece.high_j, box.high_j) + around);
}

// The box of bins that contains a pin and the nearest node of a tree, with a margin.
Box between(const std::vector<int>& pin, const std::vector<int>& tree) {
    const int i = i_of(pin[0]), j = j_of(pin[0]);
    int nearest = tree[0], least = 1 << 30;
    for (int n : tree)
        if (const int far = std::abs(xs[i_of(n)] - xs[i]) + std::abs(ys[j_of(n)] - ys[j]); far < least)
            least = far, nearest = n;
    Box box;
    box.add(i / BIN, j / BIN);
    box.add(i_of(nearest) / BIN, j_of(nearest) / BIN);
    return {box.low_i - AROUND_PIN, box.low_j - AROUND_PIN, box.high_i + AROUND_PIN, box.high_j + AROUND_PIN};
}

// The jumpers of a net. While this object exists, the net can connect to them only at their upper ends.
class Jumpers {
   public:
    explicit Jumpers(Net& of) : net(of), pins(of.pins) {}
    ~Jumpers() {
        for (int n : walls) demands[n].blocked = false;
    }
    Jumpers(const Jumpers&) = delete;
    Jumpers& operator=(const Jumpers&) = delete;

    // Route all jumpers; return false if one has no path.
    bool run(int around) {
        for (size_t p = 0; p < net.jumps.size(); p++)
            if (net.jumps[p] && !add(pins[p], around)) return false;
        return true;
    }

    // For each pin, the nodes at which the net may connect to it or to its jumper.
    const std::vector<std::vector<int>>& ends() const { return pins; }

    // Add the jumpers to the net.
    void join() {
        net.nodes.insert(net.nodes.end(), nodes.begin(), nodes.end());
        net.edges.insert(net.edges.end(), edges.begin(), edges.end());
        tidy(net.nodes), tidy(net.edges);
    }

   private:
    Net& net;
    std::vector<std::vector<int>> pins;
    std::vector<int> nodes, walls;
    std::vector<Edge> edges;

    bool add(std::vector<int>& pin, int around) {
        const int top = layer_count - 1, i = i_of(pin[0]) / BIN, j = j_of(pin[0]) / BIN;
        open_window();
        add_bins(i - around, j - around, i + around, j + around);
        Goal goal;
        for (int bin : window_bins)
            for (int n = bin * per_bin + top * BIN * BIN; n < (bin + 1) * per_bin; n++)
                if (const int a = i_of(n), b = j_of(n); a < nx && b < ny && layers[top].column[a] && layers[top].row[b]) goal.add(n);
        if (goal.high_layer < 0) return false;
        for (const Edge& edge : edges) mark_cut(edge);
        const std::vector<int> way = find(pin, goal, true);  // from the upper end
        if (way.empty()) return false;
        std::vector<Edge> steps;
        add_way(way, steps);
        for (int n : reach({way.begin() + 1, way.end()}, steps))
            if (!demands[n].blocked) demands[n].blocked = true, walls.push_back(n);
        nodes.insert(nodes.end(), way.begin(), way.end());
        edges.insert(edges.end(), steps.begin(), steps.end());
        pin = {way[0]};
        return true;
    }
};

// Route a whole net near its global route; return whether that succeeded.
bool find_all(Net& net, int around) {
    net.nodes.clear(), net.edges.clear();
    Jumpers jumpers(net);
    if (!jumpers.run(around)) return false;
    const auto& pins = jumpers.ends();
    for (size_t p = 1; p < pins.size(); p++) {
        const auto& pin = pins[p];
        const bool first = net.nodes.empty();
        const auto& tree = first ? pins[0] : net.nodes;
        const Box everywhere{0, 0, bin_columns, bin_rows};
        std::vector<int> way;
        for (const Box& box : {between(pin, tree), everywhere}) {
            open_window();
            add_guide(net, box, around);
            for (int n : pin)
                add_bins(i_of(n) / BIN - around, j_of(n) / BIN - around, i_of(n) / BIN + around, j_of(n) / BIN + around);
            Goal goal;
            for (int n : pin) goal.add(n);
            for (const Edge& edge : net.edges) mark_cut(edge);
            way = find(tree, goal, first);
            if (!way.empty()) break;
        }
        if (way.empty()) return false;
        add_way(way, net.edges);
        net.nodes.insert(net.nodes.end(), way.begin(), way.end());
        tidy(net.nodes);
    }
    if (pins.size() == 1) net.nodes.push_back(pins[0][0]);
    jumpers.join();
    return true;
}

// The index of a node in a sorted list, or -1.
int index_of(const std::vector<int>& nodes, int n) {
    const auto found = std::lower_bound(nodes.begin(), nodes.end(), n);
    return found != nodes.end() && *found == n ? int(found - nodes.begin()) : -1;
}

// Remove all branches that end without a pin.
void prune(Net& net) {
    tidy(net.nodes), tidy(net.edges);
    std::vector<int> degree(net.nodes.size()), mixed(net.nodes.size());  // by node: number of its edges, and the XOR of their indices
    std::vector<char> kept(net.nodes.size()), gone(net.edges.size());
    for (const auto& pin : net.pins)
        for (int n : pin)
            if (const int at = index_of(net.nodes, n); at >= 0) {
                kept[at] = true;
                break;
            }
    std::vector<Edge> ends;
    for (const auto& [a, b] : net.edges) {
        const int edge = int(ends.size());
        ends.push_back({index_of(net.nodes, a), index_of(net.nodes, b)});
        for (int at : {ends[edge].first, ends[edge].second}) degree[at]++, mixed[at] ^= edge;
    }
    for (size_t start = 0; start < net.nodes.size(); start++)
        for (int at = int(start); degree[at] == 1 && !kept[at];) {
            const int edge = mixed[at], other = ends[edge].first ^ ends[edge].second ^ at;
            gone[edge] = true;
            degree[at] = 0, degree[other]--, mixed[other] ^= edge;
            at = other;
        }
    size_t count = 0;
    for (size_t at = 0; at < net.nodes.size(); at++)
        if (degree[at] || kept[at]) net.nodes[count++] = net.nodes[at];
    net.nodes.resize(count);
    count = 0;
    for (size_t edge = 0; edge < net.edges.size(); edge++)
        if (!gone[edge]) net.edges[count++] = net.edges[edge];
    net.edges.resize(count);
}

// Repair of one net: cuts out its conflicts and closes the holes. The net must have been released.
class Repair {
   public:
    explicit Repair(Net& of) : net(of), nodes(of.nodes) {
        first.assign(nodes.size() + 1, 0);
        for (const auto& [a, b] : net.edges) {
            ends.push_back({index_of(nodes, a), index_of(nodes, b)});
            first[ends.back().first]++, first[ends.back().second]++;
        }
        int sum = 0;
        for (int& each : first) sum += each, each = sum;
        others.resize(2 * ends.size());
        for (const auto& [a, b] : ends) others[--first[a]] = b, others[--first[b]] = a;
    }

    // Return whether the net is connected again.
    bool run(int hops, int margin) {
        cut_out(hops);
        find_pieces();
        find_holes();
        if (!pins_to_holes()) return false;
        for (size_t e = 0; e < ends.size(); e++)
            if (away[ends[e].first] < 0 && away[ends[e].second] < 0) edges.push_back(net.edges[e]);
        for (const Hole& hole : holes)
            if (!close(hole, margin)) return false;
        for (size_t p = 1; p < net.pins.size(); p++)
            if (root(piece_of_pin[p]) != root(piece_of_pin[0])) return false;
        net.edges = edges;
        net.nodes.clear();
        for (const auto& [n, of] : tree) net.nodes.push_back(n);
        prune(net);
        return true;
    }

   private:
    struct Hole {
        Box box;
        std::vector<int> pieces;  // pieces that end at it
    };

    Net& net;
    const std::vector<int> nodes;
    std::vector<Edge> ends;          // of the edges, as indices into nodes
    std::vector<int> first, others;  // neighbours of each node in the tree
    std::vector<int> away;           // by node: hops from a conflict if it is removed, otherwise -1
    std::vector<int> going;          // removed nodes
    std::vector<int> piece, met;     // by node: its piece; by pin: a remaining node that connects it, or -1
    std::vector<Hole> holes;
    std::vector<int> hole;           // by node: its hole, if it is removed
    std::vector<int> up;             // union-find parent of each piece
    std::vector<int> lone;           // by piece: the pin, if the piece is only a pin; otherwise -1
    std::vector<int> piece_of_pin;
    std::vector<Edge> edges;                 // of the repaired net
    std::vector<std::pair<int, int>> tree;   // nodes of the repaired net, each with its piece

    int root(int k) {
        while (up[k] != k) k = up[k] = up[up[k]];
        return k;
    }

    void cut_out(int hops) {
        away.assign(nodes.size(), -1);
        for (size_t at = 0; at < nodes.size(); at++)
            if (demands[nodes[at]].cover > 0) away[at] = 0, going.push_back(int(at));
        for (size_t next = 0; next < going.size(); next++) {
            const int at = going[next];
            if (away[at] == hops) continue;
            for (int e = first[at]; e < first[at + 1]; e++)
                if (const int other = others[e]; away[other] < 0) away[other] = away[at] + 1, going.push_back(other);
        }
    }

    // Split the remaining nodes into pieces; remove small pieces without a pin too.
    void find_pieces() {
        met.assign(net.pins.size(), -1), piece.assign(nodes.size(), -1);
        std::vector<char> pinned(nodes.size());
        for (size_t p = 0; p < net.pins.size(); p++)
            for (int n : net.pins[p])
                if (const int at = index_of(nodes, n); at >= 0 && away[at] < 0 && met[p] < 0) met[p] = at, pinned[at] = true;
        for (size_t start = 0; start < nodes.size(); start++) {
            if (away[start] >= 0 || piece[start] >= 0) continue;
            const int number = int(up.size());
            std::vector<int> part{int(start)};
            piece[start] = number;
            bool needed = false;
            for (size_t next = 0; next < part.size(); next++) {
                const int at = part[next];
                needed |= pinned[at];
                for (int e = first[at]; e < first[at + 1]; e++)
                    if (const int other = others[e]; away[other] < 0 && piece[other] < 0)
                        piece[other] = number, part.push_back(other);
            }
            if (needed || int(part.size()) >= ISLAND) {
                up.push_back(number), lone.push_back(-1);
                for (int at : part) tree.push_back({nodes[at], number});
            } else {
                for (int at : part) away[at] = 0, going.push_back(at);
            }
        }
    }

    void find_holes() {
        hole.assign(nodes.size(), -1);
        for (int start : going) {
            if (hole[start] >= 0) continue;
            const int number = int(holes.size());
            Hole found;
            std::vector<int> part{start};
            hole[start] = number;
            for (size_t next = 0; next < part.size(); next++) {
                const int at = part[next];
                found.box.add(i_of(nodes[at]), j_of(nodes[at]));
                for (int e = first[at]; e < first[at + 1]; e++) {
                    const int other = others[e];
                    if (away[other] < 0)
                        found.pieces.push_back(piece[other]);
                    else if (hole[other] < 0)
                        hole[other] = number, part.push_back(other);
                }
            }
            holes.push_back(found);
        }
    }

    // Make each disconnected pin a piece of its own, with all its nodes.
    bool pins_to_holes() {
        for (size_t p = 0; p < net.pins.size(); p++) {
            if (met[p] >= 0) {
                piece_of_pin.push_back(piece[met[p]]);
                continue;
            }
            const int number = int(up.size());
            int where = -1;
            for (int n : net.pins[p])
                if (const int at = index_of(nodes, n); at >= 0) where = hole[at];
            if (where < 0) return false;
            holes[where].pieces.push_back(number);
            for (int n : net.pins[p]) holes[where].box.add(i_of(n), j_of(n));
            up.push_back(number), lone.push_back(int(p)), piece_of_pin.push_back(number);
        }
        for (Hole& each : holes) tidy(each.pieces);
        return true;
    }

    bool is_lone(int k) const { return lone[k] >= 0; }

    // Join the pieces around a hole, starting from a disconnected pin if there is one.
    bool close(const Hole& each, int margin) {
        while (true) {
            int from = -1;
            bool apart_yet = false;
            for (int k : each.pieces) {
                apart_yet |= root(k) != root(each.pieces[0]);
                if (from < 0 && is_lone(k)) from = k;
            }
            if (!apart_yet) return true;
            if (from < 0) from = root(each.pieces[0]);
            if (join(from, each.box, margin)) continue;
            margin = 2 * margin + BIN;
            if (margin > GIVEN_UP) return false;
        }
    }

    bool join(int from, const Box& box, int margin) {
        open_window();
        add_bins((box.low_i - margin) / BIN, (box.low_j - margin) / BIN, (box.high_i + margin) / BIN, (box.high_j + margin) / BIN);
        const int own = root(from);
        std::vector<int> sources;
        Goal goal;
        auto take = [&](int n, int of) {
            if (!inside(n)) return;
            if (root(of) == own)
                sources.push_back(n);
            else
                goal.add(n);
        };
        for (const auto& [n, of] : tree) take(n, of);
        for (size_t k = 0; k < up.size(); k++)
            if (is_lone(int(k)))
                for (int n : net.pins[lone[k]]) take(n, int(k));
        for (const Edge& edge : edges) mark_cut(edge);
        if (goal.high_layer < 0) return false;
        const std::vector<int> way = find(sources, goal, is_lone(from));
        if (way.empty()) return false;
        add_way(way, edges);
        const int reached = piece_at(way[0], own);
        for (int n : way) tree.push_back({n, reached});
        lone[own] = lone[reached] = -1;
        up[own] = root(reached);
        return true;
    }

    // The piece, other than this one, that contains the node at which a search ended.
    int piece_at(int n, int other_than) {
        for (const auto& [each, of] : tree)
            if (each == n && root(of) != other_than) return of;
        for (size_t k = 0; k < up.size(); k++)
            if (is_lone(int(k)) && int(k) != other_than) {
                const auto& pin = net.pins[lone[k]];
                if (std::find(pin.begin(), pin.end(), n) != pin.end()) return int(k);
            }
        std::exit(3);
    }
};

int turn = 0;  // number of completed rounds

// Route a net, or repair its conflicts.
void settle(Net& net) {
    if (!net.lost && !conflicts(net)) return;
    release(net);
    const int rounds = net.in_conflict + turn / OF_ALL_ROUNDS;
    const bool anew = net.lost || !net.jumps.empty() || (net.in_conflict % ANEW_EACH == ANEW_EACH - 1 && net.nodes.size() <= ANEW_NODES);
    const int hops = std::min(1 + MORE_HOPS * rounds, MOST_HOPS), margin = std::min(MARGIN * (1 + rounds), MOST_MARGIN);
    bool done = !anew && Repair(net).run(hops, margin);
    for (int around = 1 + rounds / WIDER_AFTER; !done && around <= MOST_AROUND; around *= 4) done = find_all(net, around);
    net.lost = !done;
    claim(net);
}

// Return the nets in conflict, and add to the memory of the contested nodes.
std::vector<int> unsettled() {
    std::vector<int> found;
    for (size_t n = 0; n < nets.size(); n++) {
        if (nets[n].lost || conflicts(nets[n])) {
            found.push_back(int(n));
            nets[n].in_conflict++;
        } else {
            nets[n].in_conflict = 0;
        }
    }
    for (int n : found)
        for (int each : nets[n].nodes)
            if (demands[each].cover > 1) demands[each].memory += (found.size() > LAST_NETS ? MEMORY : LAST_MEMORY) * float(demands[each].cover - 1);
    // nets whose conflict is new move first: otherwise the older net would give way and come back
    std::stable_sort(found.begin(), found.end(), [](int a, int b) { return nets[a].in_conflict < nets[b].in_conflict; });
    return found;
}

// The pins of a net that exceed the antenna limit of any layer below the highest.
std::vector<int> charged(const Net& net) {
    std::vector<int> found, up(net.nodes.size());
    std::vector<double> charge(net.pins.size());  // as a fraction of the limit
    for (size_t at = 0; at < up.size(); at++) up[at] = int(at);
    auto root = [&](int at) {
        while (up[at] != at) at = up[at] = up[up[at]];
        return at;
    };
    for (int layer = 0; layer + 1 < layer_count; layer++) {
        for (const auto& [a, b] : net.edges)
            if (std::max(layer_of(a), layer_of(b)) == layer) up[root(index_of(net.nodes, a))] = root(index_of(net.nodes, b));
        if (!layers[layer].bears) continue;
        std::vector<double> wire(up.size()), gate(up.size());
        std::vector<char> safe(up.size());
        for (const auto& [a, b] : net.edges)
            if (layer_of(a) == layer && layer_of(b) == layer)
                wire[root(index_of(net.nodes, a))] += std::abs(xs[i_of(a)] - xs[i_of(b)]) + std::abs(ys[j_of(a)] - ys[j_of(b)]);
            else if (layer_of(a) == layer || layer_of(b) == layer)  // half of a via's metal extends beyond the end of the wire
                wire[root(index_of(net.nodes, layer_of(a) == layer ? a : b))] += layers[layer].pad / 2;
        std::vector<int> met(net.pins.size(), -1);
        for (size_t p = 0; p < met.size(); p++) {
            for (size_t k = 0; k < net.pins[p].size() && met[p] < 0; k++) met[p] = index_of(net.nodes, net.pins[p][k]);
            if (met[p] < 0) continue;
            const bool here = layer_of(net.nodes[met[p]]) == layer;
            met[p] = root(met[p]);
            if (here) wire[met[p]] += layers[layer].pad / 2;
            if (net.gates[p] < 0)
                safe[met[p]] = true;
            else
                gate[met[p]] += GATE * net.gates[p];
        }
        for (size_t p = 1; p < met.size(); p++) {
            if (net.gates[p] <= 0) continue;
            charge[p] = wire[met[p]] / (layers[layer].bears * gate[met[p]]) + (layers[layer].sums ? charge[p] : 0);
            if (!safe[met[p]] && charge[p] > 1) found.push_back(int(p));
        }
    }
    return found;
}

// Request jumpers at pins that exceed the limit; return their nets.
std::vector<int> antennas() {
    std::vector<int> found;
    for (size_t n = 0; n < nets.size(); n++) {
        Net& net = nets[n];
        const std::vector<int> pins = charged(net);
        if (pins.empty() || net.mended == MOST_JUMPERS) continue;
        net.jumps.resize(net.pins.size());
        for (int p : pins) net.jumps[p] = true;
        net.mended++, net.lost = true;
        found.push_back(int(n));
    }
    return found;
}

// Half perimeter of the first nodes of a net's pins.
int span(const Net& net) {
    Box box;
    for (const auto& pin : net.pins) box.add(i_of(pin[0]), j_of(pin[0]));
    return xs[box.high_i] - xs[box.low_i] + ys[box.high_j] - ys[box.low_j];
}

int read_node() {
    const int layer = read(), i = read();
    return node(layer, i, read());
}

void read_grid() {
    for (auto* places : {&xs, &ys}) {
        places->resize(read());
        for (int& place : *places) place = read();
    }
    nx = int(xs.size()), ny = int(ys.size());
    layers.resize(read());
    layer_count = int(layers.size());
    for (Layer& own : layers) {
        own.vertical = read(), own.clear = read(), own.alone = read(), own.pad = read(), own.bears = read(), own.sums = read();
        own.column.resize(nx), own.row.resize(ny);
        for (auto* has : {&own.column, &own.row})
            for (char& each : *has) each = char(read());
        const auto& stops = own.vertical ? own.row : own.column;
        const int count = int(stops.size());
        own.next.assign(count, -1), own.last.assign(count, -1);
        for (int k = 1; k < count; k++) own.last[k] = stops[k - 1] ? k - 1 : own.last[k - 1];
        for (int k = count - 2; k >= 0; k--) own.next[k] = stops[k + 1] ? k + 1 : own.next[k + 1];
    }
    for (int cut = 0; cut + 1 < layer_count; cut++) apart.push_back(read());
    bin_columns = nx / BIN + 1, bin_rows = ny / BIN + 1, per_bin = layer_count * BIN * BIN;
    const size_t bins = size_t(bin_columns) * bin_rows;
    bin_window.assign(bins, 0), bin_slot.assign(bins, 0), demands.resize(bins * per_bin);
    used.assign(bins * layer_count, 0), room.assign(bins * layer_count, 0), crowd.assign(bins * layer_count, 0);
    for (int layer = 0; layer < layer_count; layer++)
        for (int j = 0; j < ny; j++)
            for (int i = 0; i < nx; i++) room[bin_layer(node(layer, i, j))] += layers[layer].column[i] && layers[layer].row[j];
    for (int count = read(); count > 0; count--) {
        const int layer = read(), i = read(), j = read(), n = node(layer, i, j);
        demands[n].blocked = true;
        room[bin_layer(n)] -= layers[layer].column[i] && layers[layer].row[j];
    }
    for (int count = read(); count > 0; count--)
        for (int n : reach({read_node()}, {})) demands[n].memory += CRAMPED, demands[n].cramped = true;
}

// Add a straight wire or a via from an earlier run to a net.
void keep(Net& net, int from, int to) {
    net.nodes.push_back(from);
    for (int n = from; n != to;) {
        const int layer = layer_of(n), i = i_of(n), j = j_of(n);
        const int next = layer != layer_of(to) ? to : layers[layer].vertical ? node(layer, i, layers[layer].next[j]) : node(layer, layers[layer].next[i], j);
        net.edges.push_back(std::minmax(n, next)), net.nodes.push_back(next);
        n = next;
    }
}

void read_nets() {
    nets.resize(read());
    for (Net& net : nets) {
        net.pins.resize(read());
        for (auto& pin : net.pins) {
            net.gates.push_back(read());
            pin.resize(read());
            for (int& n : pin) {
                n = read_node();
                demands[n].memory += AT_A_PIN / float(pin.size());
                const int i = i_of(n) / BIN, j = j_of(n) / BIN;
                net.guide.push_back({i, j, i, j});
            }
        }
        for (int pieces = read(); pieces > 0; pieces--) {
            Box piece;
            for (int end = 0; end < 2; end++) {
                const int i = read(), j = read();
                piece.add(i / BIN, j / BIN);
            }
            net.guide.push_back(piece);
        }
        for (int wires = read(); wires > 0; wires--) {
            const int from = read_node();
            keep(net, from, read_node());
        }
        if (net.edges.empty()) continue;
        tidy(net.nodes), tidy(net.edges);
        net.lost = std::any_of(net.nodes.begin(), net.nodes.end(), [](int n) { return demands[n].cramped; });
        if (!net.lost) claim(net);
    }
}

// The vias of a net, and its wires merged into maximal straight segments.
std::vector<Edge> pieces(const Net& net) {
    std::vector<Edge> found;
    std::vector<std::vector<int>> ahead;  // by edge: layer, track, and both end stops
    for (const auto& [a, b] : net.edges) {
        const int layer = layer_of(a);
        if (layer != layer_of(b)) {
            found.push_back({a, b});
            continue;
        }
        const bool vertical = layers[layer].vertical;
        const auto [low, high] = vertical ? std::minmax({j_of(a), j_of(b)}) : std::minmax({i_of(a), i_of(b)});
        ahead.push_back({layer, vertical ? i_of(a) : j_of(a), low, high});
    }
    std::sort(ahead.begin(), ahead.end());
    for (size_t k = 0; k < ahead.size();) {
        const int layer = ahead[k][0], track = ahead[k][1], low = ahead[k][2];
        int high = ahead[k][3];
        for (k++; k < ahead.size() && ahead[k][0] == layer && ahead[k][1] == track && ahead[k][2] <= high; k++)
            high = std::max(high, ahead[k][3]);
        if (layers[layer].vertical)
            found.push_back({node(layer, track, low), node(layer, track, high)});
        else
            found.push_back({node(layer, low, track), node(layer, high, track)});
    }
    return found;
}

void print(const Net& net) {
    for (const auto& pin : net.pins) {
        size_t at = 0;
        while (at < pin.size() && index_of(net.nodes, pin[at]) < 0) at++;
        std::printf("%zu ", at < pin.size() ? at : 0);
    }
    const std::vector<Edge> found = pieces(net);
    std::printf("%zu\n", found.size());
    for (const auto& [a, b] : found)
        std::printf("%d %d %d %d %d %d\n", layer_of(a), i_of(a), j_of(a), layer_of(b), i_of(b), j_of(b));
}

}  // namespace

int main() {
    read_grid();
    const int rounds = read(), seconds = read();
    read_nets();
    std::vector<int> waiting;
    for (size_t n = 0; n < nets.size(); n++) waiting.push_back(int(n));
    std::stable_sort(waiting.begin(), waiting.end(), [](int a, int b) { return span(nets[a]) < span(nets[b]); });
    while (turn < rounds) {
        for (size_t n = 0; n < waiting.size(); n++) {
            if (!turn && n % TOLD == 0) std::fprintf(stderr, "first %zu %zu\n", n, waiting.size());
            settle(nets[waiting[n]]);
        }
        waiting = unsettled();
        std::fprintf(stderr, "round %d %zu\n", ++turn, waiting.size());
        if (waiting.empty()) waiting = antennas();
        if (waiting.empty() || std::clock() > std::clock_t(seconds) * CLOCKS_PER_SEC) break;
        present = std::min(present * PRICE_GROWTH, MOST_PRICE);
        crowded *= CALMER;
        for (size_t at = 0; at < used.size(); at++) count_crowd(int(at));
    }
    std::printf("%zu %d\n", waiting.size(), turn);
    for (const Net& net : nets) print(net);
    return 0;
}
