// Global routing by negotiated congestion (McMurchie and Ebeling, PathFinder, FPGA 1995): the borders between squares of the die that
// each wire crosses.
//
// A wire joins two points of a net's tree. A* finds its path from square to square. A crossing costs its length, more on a nearly
// full border (ROOM), and more for each earlier round in which the border was overfull; a turn costs a via. A border is overfull if more wires
// cross it than the usable share of its tracks; detailed routing needs the rest for pins, vias and detours. Each round reroutes the
// wires that cross overfull borders, in a wider neighbourhood, until no border is overfull or the rounds stop improving. A wire within
// one square crosses no border, but its length reduces the tracks of that square's borders.
//
// The prices of crowded borders outlast the crowd, and leave wires on detours past borders that have room again. If asked, the router
// finally rips up the wires with detours, the longest first, and gives each the cheapest path, by length and turns, through borders with
// room. Wires across overfull borders stay as they are.
//
// Input (numbers on stdin): columns, rows, side of a square; tracks per side for horizontal and for vertical wires; their usable share
// in percent; maximum number of rounds, limit in seconds of CPU time; 1 to shorten at the end; number of wires; per wire x0 y0 x1 y1 in the unit of the side.
// Output: number of borders with more wires than tracks, number of excess wires, rounds; per wire the number of its corners, and the
// x y of each: its ends, and its turns between them.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <queue>
#include <vector>

namespace {

struct Point {
    int x, y;
};

struct Wire {
    Point from, to;
    std::vector<int> squares;  // of its path
};

constexpr float TURN = 0.5f;  // cost of a via, in sides of a square
constexpr float FIRST_PRICE = 0.5f, PRICE_GROWTH = 1.5f, MOST_PRICE = 60, MEMORY = 0.5f;
constexpr float ROOM = 0.8f;                    // fraction of a border's usable tracks above which a crossing costs more
constexpr int LEAST_HALO = 3, MOST_HALO = 20;   // squares searched around a wire's box; two more each round
constexpr int STALLED = 6;                      // rounds without fewer excess wires after which routing stops
constexpr float CLOSED = 1e4f;                  // price of a border without room, when wires are shortened
constexpr int SHORTENINGS = 3;                  // a shorter wire makes room for others
constexpr int TOLD = 2000;                      // wires between two progress reports of the first round

int columns, rows, side;
std::vector<Wire> wires;
// by direction (0 horizontal): borders to the square on the right, or above
std::vector<int> used[2];
std::vector<float> tracks[2], memory[2];  // tracks: less those that wires within squares use
float share;                              // usable fraction of the tracks
std::vector<float> cost_to;
std::vector<int> came_from, seen;
int search = 0;

int read() {
    int value = 0;
    if (std::scanf("%d", &value) != 1) std::exit(2);
    return value;
}

int column_of(int square) { return square % columns; }
int row_of(int square) { return square / columns; }
int square_at(Point p) {
    return std::clamp(p.y / side, 0, rows - 1) * columns + std::clamp(p.x / side, 0, columns - 1);
}

// The direction of the border between two adjacent squares; its index is that of the left or lower square.
int way(int a, int b) { return std::abs(a - b) == 1 && row_of(a) == row_of(b) ? 0 : 1; }

float beyond(int w, int border, float of_tracks) { return float(used[w][border]) - of_tracks * tracks[w][border]; }

void claim(const Wire& wire, int sign) {
    for (size_t n = 1; n < wire.squares.size(); n++) {
        const int a = wire.squares[n - 1], b = wire.squares[n];
        used[way(a, b)][std::min(a, b)] += sign;
    }
}

bool too_full(const Wire& wire) {
    for (size_t n = 1; n < wire.squares.size(); n++) {
        const int a = wire.squares[n - 1], b = wire.squares[n], w = way(a, b), border = std::min(a, b);
        if (beyond(w, border, share) > 0) return true;
    }
    return false;
}

// Find the cheapest path of a wire; with `shorten` by length and turns alone, through borders with room. A node is a square and the
// direction in which it was entered.
void find(Wire& wire, float present, int halo, bool shorten = false) {
    search++;
    const int start = square_at(wire.from), end = square_at(wire.to), goal_x = column_of(end), goal_y = row_of(end);
    const int low_x = std::max(0, std::min(column_of(start), goal_x) - halo);
    const int high_x = std::min(columns - 1, std::max(column_of(start), goal_x) + halo);
    const int low_y = std::max(0, std::min(row_of(start), goal_y) - halo);
    const int high_y = std::min(rows - 1, std::max(row_of(start), goal_y) + halo);
    using Entry = std::pair<float, int>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
    auto far = [&](int node) {
        const int dx = std::abs(column_of(node / 2) - goal_x), dy = std::abs(row_of(node / 2) - goal_y);
        return dx + dy + ((node & 1 ? dx : dy) ? TURN : 0);
    };
    auto offer = [&](int node, float cost, int before) {
        if (seen[node] == search && cost_to[node] <= cost) return;
        seen[node] = search;
        cost_to[node] = cost;
        came_from[node] = before;
        // between equal estimates, prefer the node closer to the goal
        open.push({cost + 1.0001f * far(node), node});
    };
    offer(2 * start, 0, -1);
    offer(2 * start + 1, 0, -1);
    while (true) {
        const auto [estimate, node] = open.top();
        open.pop();
        if (estimate > cost_to[node] + 1.0001f * far(node) + 1e-4f) continue;
        const int square = node / 2, x = column_of(square), y = row_of(square);
        if (square == end) {
            wire.squares.clear();
            for (int at = node; at >= 0; at = came_from[at])
                if (wire.squares.empty() || wire.squares.back() != at / 2) wire.squares.push_back(at / 2);
            std::reverse(wire.squares.begin(), wire.squares.end());
            return;
        }
        const float base = cost_to[node];
        auto step = [&](int w, int other) {
            const int border = std::min(square, other);
            const float over = beyond(w, border, ROOM * share) + 1;
            const float crowd = memory[w][border] + (over > 0 ? present * over : 0);
            const float price = 1 + (!shorten ? crowd : beyond(w, border, share) + 1 > 0 ? CLOSED : 0);
            offer(2 * other + w, base + price + ((node & 1) != w ? TURN : 0), node);
        };
        if (x > low_x) step(0, square - 1);
        if (x < high_x) step(0, square + 1);
        if (y > low_y) step(1, square - columns);
        if (y < high_y) step(1, square + columns);
    }
}

// Borders that a wire crosses beyond those of a shortest path.
int detour(const Wire& wire) {
    const int a = square_at(wire.from), b = square_at(wire.to);
    return int(wire.squares.size()) - 1 - std::abs(column_of(a) - column_of(b)) - std::abs(row_of(a) - row_of(b));
}

void shorten(std::vector<int> crossing) {
    for (int time = 0; time < SHORTENINGS; time++) {
        std::stable_sort(crossing.begin(), crossing.end(), [](int a, int b) { return detour(wires[a]) > detour(wires[b]); });
        for (int n : crossing) {
            Wire& wire = wires[n];
            if (detour(wire) == 0) break;
            if (too_full(wire)) continue;
            claim(wire, -1);
            find(wire, 0, detour(wire) / 2, true);
            claim(wire, 1);
        }
    }
}

// Ends and turns of a wire: turns are at centres of squares, except for those of the last two segments, which lead to the wire's end.
std::vector<Point> corners(const Wire& wire) {
    std::vector<Point> found = {wire.from};
    Point at = wire.from;
    const auto& squares = wire.squares;
    for (size_t first = 0; first + 1 < squares.size();) {
        const int w = way(squares[first], squares[first + 1]);
        size_t last = first + 1;
        while (last + 1 < squares.size() && way(squares[last], squares[last + 1]) == w) last++;
        int& moved = w ? at.y : at.x;
        const int middle = (w ? row_of(squares[last]) : column_of(squares[last])) * side + side / 2;
        const int goal = w ? wire.to.y : wire.to.x;
        // true if a later segment has this direction
        bool again = false;
        for (size_t n = last; n + 1 < squares.size(); n++) again |= way(squares[n], squares[n + 1]) == w;
        moved = again ? middle : goal;
        found.push_back(at);
        first = last;
    }
    if (at.x != wire.to.x && at.y != wire.to.y) found.push_back({wire.to.x, at.y});
    if (found.size() == 1 || found.back().x != wire.to.x || found.back().y != wire.to.y) found.push_back(wire.to);
    return found;
}

}  // namespace

int main() {
    columns = read(), rows = read(), side = read();
    const int across = read(), along = read();
    share = float(read()) / 100;
    const int most_rounds = read(), seconds = read();
    const bool also_shorten = read();
    wires.resize(read());
    const size_t squares = size_t(columns) * rows;
    for (int w : {0, 1}) {
        used[w].assign(squares, 0), memory[w].assign(squares, 0);
        tracks[w].assign(squares, float(w ? along : across));
    }
    cost_to.assign(2 * squares, 0), came_from.assign(2 * squares, -1), seen.assign(2 * squares, 0);
    std::vector<float> within[2] = {std::vector<float>(squares, 0), std::vector<float>(squares, 0)};
    for (Wire& wire : wires) {
        wire.from.x = read(), wire.from.y = read(), wire.to.x = read(), wire.to.y = read();
        if (square_at(wire.from) == square_at(wire.to)) {
            within[0][square_at(wire.from)] += std::abs(wire.from.x - wire.to.x) / float(side);
            within[1][square_at(wire.from)] += std::abs(wire.from.y - wire.to.y) / float(side);
        }
    }
    for (size_t square = 0; square < squares; square++) {
        if (column_of(int(square)) + 1 < columns) tracks[0][square] -= (within[0][square] + within[0][square + 1]) / 2;
        if (row_of(int(square)) + 1 < rows) tracks[1][square] -= (within[1][square] + within[1][square + columns]) / 2;
    }
    // short wires first, because they have the fewest alternatives
    auto span = [](const Wire& wire) { return std::abs(wire.from.x - wire.to.x) + std::abs(wire.from.y - wire.to.y); };
    std::vector<int> waiting;
    for (size_t n = 0; n < wires.size(); n++)
        if (square_at(wires[n].from) != square_at(wires[n].to)) waiting.push_back(int(n));
    std::stable_sort(waiting.begin(), waiting.end(), [&](int a, int b) { return span(wires[a]) < span(wires[b]); });
    const std::vector<int> crossing = waiting;
    float present = FIRST_PRICE;
    int turn = 0, least = -1, best = 0;
    for (; turn < most_rounds; turn++) {
        for (size_t n = 0; n < waiting.size(); n++) {
            Wire& wire = wires[waiting[n]];
            claim(wire, -1);
            find(wire, present, std::min(LEAST_HALO + 2 * turn, MOST_HALO));
            claim(wire, 1);
            if (!turn && n % TOLD == 0) std::fprintf(stderr, "first %zu %zu\n", n, waiting.size());
        }
        int full = 0, over = 0;
        for (int w : {0, 1})
            for (size_t border = 0; border < squares; border++)
                if (const float more = beyond(w, int(border), share); used[w][border] && more > 0) {
                    full++;
                    over += int(std::ceil(more));
                    memory[w][border] += MEMORY * more;
                }
        std::fprintf(stderr, "round %d %d\n", turn + 1, full);
        waiting.clear();
        for (int n : crossing)
            if (too_full(wires[n])) waiting.push_back(n);
        if (least < 0 || over < least) least = over, best = turn;
        if (!full || turn - best >= STALLED || std::clock() > std::clock_t(seconds) * CLOCKS_PER_SEC) break;
        present = std::min(present * PRICE_GROWTH, MOST_PRICE);
    }
    if (also_shorten) shorten(crossing);
    int full = 0, over = 0;
    for (int w : {0, 1})
        for (size_t border = 0; border < squares; border++)
            if (const float more = beyond(w, int(border), 1); used[w][border] && more > 0) full++, over += int(std::ceil(more));
    std::printf("%d %d %d\n", full, over, std::min(turn + 1, most_rounds));
    for (const Wire& wire : wires) {
        const std::vector<Point> found = corners(wire);
        std::printf("%zu", found.size());
        for (Point p : found) std::printf(" %d %d", p.x, p.y);
        std::printf("\n");
    }
    return 0;
}
