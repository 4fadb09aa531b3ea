// Detailed routing on a grid, by negotiation over nodes (McMurchie and Ebeling, PathFinder, FPGA 1995).
//
// A node is a crossing of tracks on a layer. Each net is a tree of nodes, found pin by pin with A* from all of the tree so far to the
// nodes at which the next pin can be met. A net covers its nodes and, on layers where two ends of wires would come too near
// one another, their neighbours along the track. Nets may cover the nodes of others at a price, which rises every time round, and
// with the memory of earlier conflicts, until no node of a net is covered by another. The short nets come first, which have the
// fewest ways, and only those in conflict again, of which at first the parts that are in none stay. A net is searched near its global routing alone: in the bins of the grid that this
// crosses and those around them, more of them each few rounds.
//
// Input (numbers on stdin): nx ny layers; per layer: vertical xstep ystep guard; per pair of layers the rows within which a net
// may not have two vias in a column; most rounds, seconds of the processor; number of nets; per net its pins,
// per pin its nodes (layer i j), and the pieces of its global routing, by their ends (i j i j). Output: conflicts left, rounds; per net the number of edges, and the two nodes of each. On stderr:
// "first N OF" of the nets in the first round, and "round NUMBER LEFT" after each.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <unordered_map>
#include <vector>

namespace {

struct Layer {
    int vertical, xstep, ystep, guard;
};

// What a search knows of a node, if it is the last that has seen it.
struct Mark {
    float distance = 0;
    int previous = -1, seen = 0;
};

// What others want of a node: nets that cover it, and how much they have been in conflict there.
struct Demand {
    float memory = 0;
    int cover = 0;
};

struct Place {
    int layer, i, j;
};

// A piece of a net's global routing, in bins.
struct Box {
    int low_i, low_j, high_i, high_j;
};

// Some of a net's tree.
struct Part {
    std::vector<int> nodes;
    std::vector<std::pair<int, int>> edges;
};

struct Net {
    std::vector<std::vector<int>> pins;
    std::vector<Box> guide;
    int span = 0;  // half the outline of its pins
    std::vector<int> nodes;                  // that it uses
    std::vector<int> covered;                // those and their guards
    std::vector<std::pair<int, int>> edges;
    bool lost = false;  // no way to one of its pins
};

constexpr float VIA = 45;  // 10 nm; a via is worth a detour of two tracks
// Weight of what is ahead: a way is up to so much dearer than the best. With 1.1 instead of 1 the wires of 7,000 cells are longer by
// 0.1 %, in four fifths of the time; with 1.25 by 0.7 %, in two thirds. Long nets, of which there are few, take most of the time.
constexpr float NEARER = 1.1f, NEARER_IF_LONG = 1.6f;
constexpr int LONG = 4000;  // 10 nm, half the outline of a net's pins
constexpr float FIRST_PRICE = 1.5f, PRICE_GROWTH = 1.4f, MOST_PRICE = 200, MEMORY = 0.4f;
constexpr int BIN = 16;                         // columns and rows
constexpr int AROUND = 1, WIDER_AFTER = 4;      // bins around the global routing; one more after so many rounds
constexpr int KEEPING = 6;                      // rounds in which nets keep what is in no conflict; in the end that leaves too few ways
constexpr int MOST_AROUND = 200;                // for a net that finds no way: a search keeps one way to a node, which may not end there
constexpr int TOLD = 1000;  // nets between two words of how far the first round is

int nx, ny, layer_count;
int step_x, step_y;  // 10 nm
std::vector<Layer> layers;
std::vector<Net> nets;
std::vector<Mark> marks;
std::vector<Demand> demands;
std::vector<int> wanted, via_of, apart, near;
int bin_columns, bin_rows;
int round_of_search = 0, tree = 0;  // counters that tell this search's and this tree's marks from older ones

int read() {
    int value = 0;
    if (std::scanf("%d", &value) != 1) std::exit(2);
    return value;
}

// All nodes of a bin, layer by layer, have neighbouring numbers: a search stays in the cache whatever way it goes.
int bin_at(int i, int j) { return j / BIN * bin_columns + i / BIN; }
int bin_of(int n) { return n / (BIN * BIN) / layer_count; }
int node(int layer, int i, int j) {
    return ((bin_at(i, j) * layer_count + layer) * BIN + j % BIN) * BIN + i % BIN;
}
int layer_of(int n) { return n / (BIN * BIN) % layer_count; }
int x_of(int n) { return bin_of(n) % bin_columns * BIN + n % BIN; }
int y_of(int n) { return bin_of(n) / bin_columns * BIN + n / BIN % BIN; }
Place place_of(int n) { return {layer_of(n), x_of(n), y_of(n)}; }
bool exists(int layer, int i, int j) {
    return layer >= 0 && layer < layer_count && i >= 0 && i < nx && j >= 0 && j < ny && i % layers[layer].xstep == 0 &&
           j % layers[layer].ystep == 0;
}

template <class Visit>
void neighbours(const Place& at, Visit visit) {
    const auto [layer, i, j] = at;
    const Layer& own = layers[layer];
    for (int sign : {-1, 1}) {
        const int a = own.vertical ? i : i + sign * own.xstep, b = own.vertical ? j + sign * own.ystep : j;
        if (exists(layer, a, b)) visit(Place{layer, a, b}, own.vertical ? step_y * own.ystep : step_x * own.xstep);
        if (exists(layer + sign, i, j)) visit(Place{layer + sign, i, j}, VIA);
    }
}

void claim(Net& net) {
    std::sort(net.nodes.begin(), net.nodes.end());
    net.nodes.erase(std::unique(net.nodes.begin(), net.nodes.end()), net.nodes.end());
    net.covered = net.nodes;
    for (int n : net.nodes) {
        const int layer = layer_of(n), i = x_of(n), j = y_of(n);
        const Layer& own = layers[layer];
        for (int k = 1; k <= own.guard; k++)
            for (int sign : {-k, k}) {
                const int a = own.vertical ? i : i + sign, b = own.vertical ? j + sign : j;
                if (a >= 0 && a < nx && b >= 0 && b < ny) net.covered.push_back(node(layer, a, b));
            }
    }
    std::sort(net.covered.begin(), net.covered.end());
    net.covered.erase(std::unique(net.covered.begin(), net.covered.end()), net.covered.end());
    for (int n : net.covered) demands[n].cover++;
}

void release(Net& net) {
    for (int n : net.covered) demands[n].cover--;
    net.covered.clear();
    net.nodes.clear();
    net.edges.clear();
}

// Whether a via from node n, which is at a place, to another layer would stand too near one of the same net, in the tree or on the way to n.
bool too_near(int n, const Place& at, int other_layer) {
    const int cut = std::min(at.layer, other_layer);
    for (int k = -apart[cut]; k <= apart[cut]; k++)
        if (k && at.j + k >= 0 && at.j + k < ny && via_of[node(cut, at.i, at.j + k)] == tree) return true;
    for (int step = n; marks[step].previous >= 0; step = marks[step].previous) {
        const auto [layer, i, j] = place_of(marks[step].previous);
        if (layer == other_layer) return step != n && x_of(step) == at.i;
        if (layer != at.layer || i != at.i || std::abs(j - at.j) > apart[cut]) return false;
    }
    return false;
}

// Of a node: its own length once, and more for each net that covers it and for each conflict that was there.
float price(int n, float present) { return 1 + present * demands[n].cover + demands[n].memory; }

// Join a pin to the tree (or, the first time, two pins to one another); returns whether there is a way.
bool join(Net& net, const std::vector<int>& targets, float present) {
    round_of_search++;
    const float weight = net.span > LONG ? NEARER_IF_LONG : NEARER;
    int low_i = nx, high_i = 0, low_j = ny, high_j = 0;
    for (int n : targets) {
        wanted[n] = round_of_search;
        low_i = std::min(low_i, x_of(n)), high_i = std::max(high_i, x_of(n));
        low_j = std::min(low_j, y_of(n)), high_j = std::max(high_j, y_of(n));
    }
    auto far = [&](const Place& at) {
        const int across = step_x * std::max({low_i - at.i, at.i - high_i, 0});
        return weight * (across + step_y * std::max({low_j - at.j, at.j - high_j, 0}) + VIA * at.layer);
    };
    using Entry = std::pair<float, int>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
    auto offer = [&](int n, const Place& at, float cost, int from) {
        Mark& mark = marks[n];
        if (mark.seen == round_of_search && mark.distance <= cost) return;
        mark = {cost, from, round_of_search};
        open.push({cost + far(at), n});
    };
    if (net.nodes.empty()) {
        for (int n : net.pins[0]) offer(n, place_of(n), VIA * price(n, present), -1);
    } else {
        for (int n : net.nodes) offer(n, place_of(n), 0, -1);
    }
    while (!open.empty()) {
        const auto [estimate, n] = open.top();
        open.pop();
        const Place at = place_of(n);
        const float base = marks[n].distance;
        if (estimate > base + far(at) + 0.01f) continue;
        if (wanted[n] == round_of_search) {
            int step = n;
            net.nodes.push_back(step);
            while (marks[step].previous >= 0) {
                const int before = marks[step].previous;
                net.edges.push_back({before, step});
                if (layer_of(before) != layer_of(step)) via_of[std::min(before, step)] = tree;
                step = before;
                net.nodes.push_back(step);
            }
            return true;
        }
        neighbours(at, [&](const Place& next, float length) {
            const int other = node(next.layer, next.i, next.j);
            if (near[bin_of(other)] != tree) return;
            const float cost = base + length * price(other, present);
            if (marks[other].seen == round_of_search && marks[other].distance <= cost) return;
            if (next.layer != at.layer && too_near(n, at, next.layer)) return;
            offer(other, next, cost, n);
        });
    }
    return false;
}

// What a net keeps when it is searched anew: the parts of its tree that nothing else covers, as far as they lead to a pin.
std::vector<Part> without_conflicts(const Net& net) {
    std::map<int, std::vector<int>> around;
    for (auto [a, b] : net.edges) {
        if (demands[a].cover > 1 || demands[b].cover > 1) continue;
        around[a].push_back(b);
        around[b].push_back(a);
    }
    std::set<int> ends;
    for (const auto& pin : net.pins) ends.insert(pin.begin(), pin.end());
    std::vector<int> loose;
    for (const auto& [n, others] : around)
        if (others.size() == 1 && !ends.count(n)) loose.push_back(n);
    while (!loose.empty()) {
        const int n = loose.back(), other = around[n].empty() ? -1 : around[n][0];
        loose.pop_back();
        around.erase(n);
        if (other < 0) continue;
        auto& others = around[other];
        others.erase(std::find(others.begin(), others.end(), n));
        if (others.size() < 2 && !ends.count(other)) loose.push_back(other);
    }
    std::vector<Part> parts;
    std::set<int> reached;
    for (const auto& [start, others] : around) {
        if (others.empty() || !reached.insert(start).second) continue;
        Part part{{start}, {}};
        for (size_t next = 0; next < part.nodes.size(); next++) {
            const int n = part.nodes[next];
            for (int other : around[n]) {
                if (n < other) part.edges.push_back({n, other});
                if (reached.insert(other).second) part.nodes.push_back(other);
            }
        }
        parts.push_back(part);
    }
    return parts;
}

// A tree for a net, near its global routing and with these parts in it; returns whether there is one.
bool route(Net& net, const std::vector<Part>& parts, float present, int around) {
    tree++;
    std::unordered_map<int, int> part_of;
    for (size_t part = 0; part < parts.size(); part++) {
        for (int n : parts[part].nodes) part_of[n] = int(part);
        for (auto [a, b] : parts[part].edges)
            if (layer_of(a) != layer_of(b)) via_of[std::min(a, b)] = tree;
    }
    std::vector<bool> taken(parts.size());
    auto part_at = [&](const std::vector<int>& pin) {
        for (int n : pin)
            if (const auto found = part_of.find(n); found != part_of.end()) return found->second;
        return -1;
    };
    auto take = [&](int part) {
        if (part < 0) return;
        taken[part] = true;
        net.nodes.insert(net.nodes.end(), parts[part].nodes.begin(), parts[part].nodes.end());
        net.edges.insert(net.edges.end(), parts[part].edges.begin(), parts[part].edges.end());
    };
    for (const Box& box : net.guide)
        for (int j = std::max(box.low_j - around, 0); j <= std::min(box.high_j + around, bin_rows - 1); j++)
            for (int i = std::max(box.low_i - around, 0); i <= std::min(box.high_i + around, bin_columns - 1); i++)
                near[j * bin_columns + i] = tree;
    take(part_at(net.pins[0]));
    for (size_t pin = 1; pin < net.pins.size(); pin++) {
        const int part = part_at(net.pins[pin]);
        if (part >= 0 && taken[part]) continue;
        if (!join(net, part < 0 ? net.pins[pin] : parts[part].nodes, present)) return false;
        take(part);
    }
    for (auto& [a, b] : net.edges)
        if (a > b) std::swap(a, b);
    std::sort(net.edges.begin(), net.edges.end());
    net.edges.erase(std::unique(net.edges.begin(), net.edges.end()), net.edges.end());
    if (net.pins.size() == 1) net.nodes.push_back(net.pins[0][0]);
    claim(net);
    return true;
}

// Half the outline of a net's first choices.
int span(const Net& net) {
    int low_i = nx, high_i = 0, low_j = ny, high_j = 0;
    for (const auto& pin : net.pins) {
        low_i = std::min(low_i, x_of(pin[0])), high_i = std::max(high_i, x_of(pin[0]));
        low_j = std::min(low_j, y_of(pin[0])), high_j = std::max(high_j, y_of(pin[0]));
    }
    return step_x * (high_i - low_i) + step_y * (high_j - low_j);
}

bool conflicts(const Net& net) {
    return std::any_of(net.nodes.begin(), net.nodes.end(), [](int n) { return demands[n].cover > 1; });
}

}  // namespace

int main() {
    nx = read(), ny = read(), step_x = read(), step_y = read(), layer_count = read();
    for (int layer = 0; layer < layer_count; layer++) {
        const int vertical = read(), xstep = read(), ystep = read(), guard = read();
        layers.push_back({vertical, xstep, ystep, guard});
    }
    for (int cut = 0; cut + 1 < layer_count; cut++) apart.push_back(read());
    bin_columns = nx / BIN + 1, bin_rows = ny / BIN + 1;
    const int rounds = read(), seconds = read();
    nets.resize(read());
    for (Net& net : nets) {
        net.pins.resize(read());
        for (auto& pin : net.pins) {
            pin.resize(read());
            for (int& n : pin) {
                const int layer = read(), i = read(), j = read();
                n = node(layer, i, j);
                net.guide.push_back({i / BIN, j / BIN, i / BIN, j / BIN});
            }
        }
        for (int pieces = read(); pieces > 0; pieces--) {
            const int i0 = read() / BIN, j0 = read() / BIN, i1 = read() / BIN, j1 = read() / BIN;
            net.guide.push_back({std::min(i0, i1), std::min(j0, j1), std::max(i0, i1), std::max(j0, j1)});
        }
    }
    near.assign(size_t(bin_columns) * bin_rows, 0);
    const size_t size = near.size() * layer_count * BIN * BIN;
    marks.resize(size), demands.resize(size), wanted.assign(size, 0), via_of.assign(size, 0);
    float present = FIRST_PRICE;
    std::vector<int> waiting(nets.size());
    for (Net& net : nets) net.span = span(net);
    for (size_t n = 0; n < nets.size(); n++) waiting[n] = int(n);
    std::stable_sort(waiting.begin(), waiting.end(), [&](int a, int b) { return nets[a].span < nets[b].span; });
    int turn = 0, left = 0;
    for (; turn < rounds; turn++) {
        for (size_t n = 0; n < waiting.size(); n++) {
            Net& net = nets[waiting[n]];
            std::vector<Part> kept;
            if (!net.lost && turn < KEEPING) kept = without_conflicts(net);
            net.lost = true;
            for (int around = AROUND + turn / WIDER_AFTER; net.lost && around <= MOST_AROUND; around *= 4) {
                release(net);
                net.lost = !route(net, kept, present, around);
                kept.clear();
            }
            if (!turn && n % TOLD == 0) std::fprintf(stderr, "first %zu %zu\n", n, waiting.size());
        }
        waiting.clear();
        left = 0;
        for (size_t n = 0; n < nets.size(); n++)
            if (nets[n].lost || conflicts(nets[n])) waiting.push_back(int(n));
        left = int(waiting.size());
        for (int n : waiting)
            for (int each : nets[n].nodes)
                if (demands[each].cover > 1) demands[each].memory += MEMORY * (1 + present) * (demands[each].cover - 1);
        std::fprintf(stderr, "round %d %d\n", turn + 1, left);
        if (!left || std::clock() > std::clock_t(seconds) * CLOCKS_PER_SEC) break;
        present = std::min(present * PRICE_GROWTH, MOST_PRICE);
    }
    std::printf("%d %d\n", left, turn + 1);
    for (const Net& net : nets) {
        std::printf("%zu\n", net.edges.size());
        for (auto [a, b] : net.edges)
            std::printf("%d %d %d %d %d %d\n", layer_of(a), x_of(a), y_of(a), layer_of(b), x_of(b), y_of(b));
    }
    return 0;
}
