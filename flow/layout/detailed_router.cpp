// Detailed routing on a grid, by negotiation over nodes (McMurchie and Ebeling, PathFinder, FPGA 1995).
//
// A node is a crossing of tracks on a layer. Each net is a tree of nodes, found pin by pin with A* from all of the tree so far to the
// nodes at which the next pin can be met. A net covers its nodes and, on layers where two ends of wires would come too near
// one another, their neighbours along the track. Nets may cover the nodes of others at a price, which rises every time round, and
// with the memory of earlier conflicts, until no node of a net is covered by another.
//
// Input (numbers on stdin): nx ny layers; per layer: vertical xstep ystep guard; per pair of layers the rows within which a net
// may not have two vias in a column; most rounds, seconds of the processor; number of nets; per net its pins,
// per pin its nodes (layer i j). Output: conflicts left, rounds; per net the number of edges, and the two nodes of each.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <queue>
#include <vector>

namespace {

struct Layer {
    int vertical, xstep, ystep, guard;
};

struct Net {
    std::vector<std::vector<int>> pins;
    std::vector<int> nodes;                  // that it uses
    std::vector<int> covered;                // those and their guards
    std::vector<std::pair<int, int>> edges;
};

constexpr float VIA = 45;  // 10 nm; a via is worth a detour of two tracks
constexpr float FIRST_PRICE = 0.6f, PRICE_GROWTH = 1.4f, MOST_PRICE = 200, MEMORY = 0.4f;

int nx, ny, layer_count;
int step_x, step_y;  // 10 nm
std::vector<Layer> layers;
std::vector<Net> nets;
std::vector<uint16_t> cover;
std::vector<float> memory, distance_to;
std::vector<int> previous, seen, wanted, via_of, apart;
int round_of_search = 0, tree = 0;  // counters that tell this search's and this tree's marks from older ones

int read() {
    int value = 0;
    if (std::scanf("%d", &value) != 1) std::exit(2);
    return value;
}

int node(int layer, int i, int j) { return (layer * ny + j) * nx + i; }
int x_of(int n) { return n % nx; }
int y_of(int n) { return n / nx % ny; }
int layer_of(int n) { return n / nx / ny; }
bool exists(int layer, int i, int j) {
    return layer >= 0 && layer < layer_count && i >= 0 && i < nx && j >= 0 && j < ny && i % layers[layer].xstep == 0 &&
           j % layers[layer].ystep == 0;
}

template <class Visit>
void neighbours(int n, Visit visit) {
    const int layer = layer_of(n), i = x_of(n), j = y_of(n);
    const Layer& own = layers[layer];
    for (int sign : {-1, 1}) {
        const int a = own.vertical ? i : i + sign * own.xstep, b = own.vertical ? j + sign * own.ystep : j;
        if (exists(layer, a, b)) visit(node(layer, a, b), own.vertical ? step_y * own.ystep : step_x * own.xstep);
        if (exists(layer + sign, i, j)) visit(node(layer + sign, i, j), VIA);
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
    for (int n : net.covered) cover[n]++;
}

void release(Net& net) {
    for (int n : net.covered) cover[n]--;
    net.covered.clear();
    net.nodes.clear();
    net.edges.clear();
}

// Whether a via from node n to the layer of `other` would stand too near one of the same net, in the tree or on the way to n.
bool too_near(int n, int other) {
    const int i = x_of(n), j = y_of(n), cut = std::min(layer_of(n), layer_of(other));
    for (int k = -apart[cut]; k <= apart[cut]; k++)
        if (k && j + k >= 0 && j + k < ny && via_of[node(cut, i, j + k)] == tree) return true;
    for (int at = n; previous[at] >= 0; at = previous[at]) {
        const int before = previous[at];
        if (layer_of(before) == layer_of(other)) return at != n && x_of(at) == i;
        if (layer_of(before) != layer_of(n) || x_of(before) != i || std::abs(y_of(before) - j) > apart[cut]) return false;
    }
    return false;
}

// Of a node: its own length once, and more for each net that covers it and for each conflict that was there.
float price(int n, float present) { return 1 + present * cover[n] + memory[n]; }

// Join a pin to the tree (or, the first time, two pins to one another); returns whether there is a way.
bool join(Net& net, const std::vector<int>& targets, float present) {
    round_of_search++;
    int low_i = nx, high_i = 0, low_j = ny, high_j = 0;
    for (int n : targets) {
        wanted[n] = round_of_search;
        low_i = std::min(low_i, x_of(n)), high_i = std::max(high_i, x_of(n));
        low_j = std::min(low_j, y_of(n)), high_j = std::max(high_j, y_of(n));
    }
    auto far = [&](int n) {
        const int i = x_of(n), j = y_of(n);
        return step_x * std::max({low_i - i, i - high_i, 0}) + step_y * std::max({low_j - j, j - high_j, 0}) + VIA * layer_of(n);
    };
    using Entry = std::pair<float, int>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
    auto offer = [&](int n, float cost, int from) {
        if (seen[n] == round_of_search && distance_to[n] <= cost) return;
        seen[n] = round_of_search;
        distance_to[n] = cost;
        previous[n] = from;
        open.push({cost + far(n), n});
    };
    if (net.nodes.empty()) {
        for (int n : net.pins[0]) offer(n, VIA * price(n, present), -1);
    } else {
        for (int n : net.nodes) offer(n, 0, -1);
    }
    while (!open.empty()) {
        const auto [estimate, n] = open.top();
        open.pop();
        if (estimate > distance_to[n] + far(n) + 0.01f) continue;
        if (wanted[n] == round_of_search) {
            int at = n;
            net.nodes.push_back(at);
            while (previous[at] >= 0) {
                net.edges.push_back({previous[at], at});
                if (layer_of(previous[at]) != layer_of(at)) via_of[std::min(previous[at], at)] = tree;
                at = previous[at];
                net.nodes.push_back(at);
            }
            return true;
        }
        const float base = distance_to[n];
        neighbours(n, [&](int other, float length) {
            if (layer_of(other) != layer_of(n) && too_near(n, other)) return;
            offer(other, base + length * price(other, present), n);
        });
    }
    return false;
}

bool route(Net& net, float present) {
    tree++;
    for (size_t pin = 1; pin < net.pins.size(); pin++)
        if (!join(net, net.pins[pin], present)) return false;
    if (net.pins.size() == 1) net.nodes.push_back(net.pins[0][0]);
    claim(net);
    return true;
}

bool conflicts(const Net& net) {
    return std::any_of(net.nodes.begin(), net.nodes.end(), [](int n) { return cover[n] > 1; });
}

}  // namespace

int main() {
    nx = read(), ny = read(), step_x = read(), step_y = read(), layer_count = read();
    for (int layer = 0; layer < layer_count; layer++) {
        const int vertical = read(), xstep = read(), ystep = read(), guard = read();
        layers.push_back({vertical, xstep, ystep, guard});
    }
    for (int cut = 0; cut + 1 < layer_count; cut++) apart.push_back(read());
    const int rounds = read(), seconds = read();
    nets.resize(read());
    for (Net& net : nets) {
        net.pins.resize(read());
        for (auto& pin : net.pins) {
            pin.resize(read());
            for (int& n : pin) {
                const int layer = read(), i = read(), j = read();
                n = node(layer, i, j);
            }
        }
    }
    const size_t size = size_t(layer_count) * nx * ny;
    cover.assign(size, 0), memory.assign(size, 0), distance_to.assign(size, 0);
    previous.assign(size, -1), seen.assign(size, 0), wanted.assign(size, 0);
    via_of.assign(size, 0);
    float present = 0;
    std::vector<int> waiting(nets.size());
    for (size_t n = 0; n < nets.size(); n++) waiting[n] = int(n);
    int turn = 0, left = 0, lost = 0;
    for (; turn < rounds; turn++) {
        for (int n : waiting) {
            release(nets[n]);
            if (!route(nets[n], present)) lost++;
        }
        waiting.clear();
        left = 0;
        for (size_t n = 0; n < nets.size(); n++)
            if (conflicts(nets[n])) waiting.push_back(int(n));
        left = int(waiting.size());
        for (int n : waiting)
            for (int each : nets[n].nodes)
                if (cover[each] > 1) memory[each] += MEMORY * (1 + present) * (cover[each] - 1);
        std::fprintf(stderr, "round %d: %d nets in conflict\n", turn + 1, left);
        if (!left || lost || std::clock() > std::clock_t(seconds) * CLOCKS_PER_SEC) break;
        present = turn ? std::min(present * PRICE_GROWTH, MOST_PRICE) : FIRST_PRICE;
    }
    std::printf("%d %d\n", left + lost, turn + 1);
    for (const Net& net : nets) {
        std::printf("%zu\n", net.edges.size());
        for (auto [a, b] : net.edges)
            std::printf("%d %d %d %d %d %d\n", layer_of(a), x_of(a), y_of(a), layer_of(b), x_of(b), y_of(b));
    }
    return 0;
}
