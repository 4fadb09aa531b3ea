// Detailed placement: legalises a global placement into rows, then moves cells to shorten the wires.
//
// Legalisation assigns each cell to the row where it lands closest to its global position; cells placed earlier shift along the row to
// make room (Spindler, Schlichtmann and Johannes, Abacus, ISPD 2008). Improvement works in rounds. Each cell moves to the optimal
// position for its nets, into a gap or by swapping with another cell, if that shortens wires (Pan, Viswanathan and Chu, FastDP, ICCAD
// 2005). Every three neighbours in a row are put into their best order. Each cell slides between its neighbours, and is mirrored if
// that helps. No move or swap raises the density of a spot, a square of a few rows, above its limit. The rounds end when one gains little.
//
// Input (numbers on stdin): number of rows, sites per row, width of a site, height of a row, whether the first row is flipped (rows
// alternate), density limit of a spot in thousandths, maximum number of rounds; number of cells, for each its width in sites and the
// global position of its lower left corner; number of nets, for each its weight, the number of its pins, and for each pin its cell and
// the offset from that cell's lower left corner, or -1 and a position in the core. Output: the number of cells for which no row has
// room; if it is 0, for each cell its row, its first site, and whether it is mirrored.

#pragma GCC optimize("O3")

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace {

constexpr int WIDEST = 100;         // nets with more pins are ignored: moving one cell hardly shortens them
constexpr int ROWS_TRIED = 2;       // rows tried above and below a cell's optimal row
constexpr int TRIED = 4;            // cells tried to the left and right of the optimal position
constexpr int SPOT_ROWS = 4;        // height of a spot, which is as wide as it is high
constexpr double LITTLE = 0.003;    // fraction of the wire length: a round that gains less is the last

struct Pin {
    int cell, x, y;
};

struct Box {
    int left = INT_MAX, right = INT_MIN, low = INT_MAX, high = INT_MIN;
    void add(int x, int y) { left = std::min(left, x), right = std::max(right, x), low = std::min(low, y), high = std::max(high, y); }
    int64_t half() const { return right < left ? 0 : int64_t(right - left) + (high - low); }
};

// A net of a cell: the bounding box of its pins elsewhere, and that of its pins on the cell, relative to the cell's corner.
struct Tie {
    Box others, own;
    int64_t weight;
};

int rows, sites, site, row_height, first_flipped;
int cells;
std::vector<int> width, wish_x, wish_y;   // wishes: global positions, in the unit of `site`
std::vector<int> row_of, start;
std::vector<char> mirrored;
std::vector<std::vector<int>> order;      // the cells of each row, left to right
std::vector<Pin> pins;
std::vector<int> first_pin, first_net, nets_of, weight_of;
int spots_across, spot_sites;
std::vector<int> spot_used, spot_room;

int read() {
    int value = 0;
    if (std::scanf("%d", &value) != 1) std::exit(2);
    return value;
}

// ---- legalisation

// Abutting cells of a row, at the position that is optimal for them on average.
struct Cluster {
    double sum;  // of each cell's global position, less its offset in the cluster
    int count, width;
    double at() const { return std::clamp(sum / count, 0.0, double(sites - width)); }
};

// The position of a cell if it were appended to a row. `last` is the cluster that would contain it, `kept` the number of clusters in
// front of that.
double appended(const std::vector<Cluster>& row, int cell, Cluster& last, size_t& kept) {
    last = {double(wish_x[cell]) / site, 1, width[cell]};
    kept = row.size();
    while (kept && row[kept - 1].at() + row[kept - 1].width > last.at()) {
        const Cluster& before = row[kept - 1];
        last = {before.sum + last.sum - double(last.count) * before.width, before.count + last.count, before.width + last.width};
        kept--;
    }
    return last.at() + last.width - width[cell];
}

// Legalise all cells; return the number of cells for which no row has room.
int into_rows() {
    std::vector<int> turn(cells), used(rows, 0);
    std::iota(turn.begin(), turn.end(), 0);
    std::stable_sort(turn.begin(), turn.end(), [](int a, int b) { return wish_x[a] < wish_x[b]; });
    std::vector<std::vector<Cluster>> clusters(rows);
    order.assign(rows, {});
    Cluster last;
    size_t kept;
    int without_row = 0;
    for (int cell : turn) {
        const double x = double(wish_x[cell]) / site, y = double(wish_y[cell]) / row_height;
        const int middle = std::clamp(int(std::lround(y)), 0, rows - 1);
        double best = 1e30;
        int best_row = -1;
        for (int away = 0; away < 2 * rows; away++) {
            // nearest rows first, alternating above and below
            const int row = middle + (away % 2 ? (away + 1) / 2 : -(away / 2));
            const double climb = std::fabs(row - y) * row_height / site;
            if (best_row >= 0 && (away / 2 - 1.0) * row_height / site > best) break;
            if (row < 0 || row >= rows || used[row] + width[cell] > sites || climb >= best) continue;
            const double cost = climb + std::fabs(appended(clusters[row], cell, last, kept) - x);
            if (cost < best) best = cost, best_row = row;
        }
        if (best_row < 0) {
            without_row++;
            continue;
        }
        appended(clusters[best_row], cell, last, kept);
        clusters[best_row].resize(kept);
        clusters[best_row].push_back(last);
        order[best_row].push_back(cell);
        used[best_row] += width[cell];
    }
    for (int row = 0; row < rows; row++) {
        size_t next = 0;
        for (const Cluster& cluster : clusters[row]) {
            int at = int(std::lround(cluster.at()));
            for (int n = 0; n < cluster.count; n++) {
                const int cell = order[row][next++];
                row_of[cell] = row, start[cell] = at;
                at += width[cell];
            }
        }
    }
    return without_row;
}

// ---- wires

bool flipped(int row) { return (row + first_flipped) % 2; }

int x_of(const Pin& pin) {
    return start[pin.cell] * site + (mirrored[pin.cell] ? width[pin.cell] * site - pin.x : pin.x);
}

int y_of(const Pin& pin) {
    const int row = row_of[pin.cell];
    return row * row_height + (flipped(row) ? row_height - pin.y : pin.y);
}

int64_t half_perimeter(int net) {
    Box box;
    for (int n = first_pin[net]; n < first_pin[net + 1]; n++) {
        const Pin& pin = pins[n];
        if (pin.cell < 0) box.add(pin.x, pin.y);
        else box.add(x_of(pin), y_of(pin));
    }
    return weight_of[net] * box.half();
}

int64_t all_wires() {
    int64_t sum = 0;
    for (size_t net = 0; net + 1 < first_pin.size(); net++) sum += half_perimeter(int(net));
    return sum;
}

std::vector<int> touched;

// Weighted half perimeter of all nets of these cells; `touched` then contains these nets.
template <typename Cells>
int64_t wires_of(const Cells& some) {
    touched.clear();
    for (int cell : some) touched.insert(touched.end(), nets_of.data() + first_net[cell], nets_of.data() + first_net[cell + 1]);
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    int64_t sum = 0;
    for (int net : touched) sum += half_perimeter(net);
    return sum;
}

std::vector<Tie> ties;
std::vector<int> ends;

void find_ties(int cell) {
    ties.clear();
    for (int n = first_net[cell]; n < first_net[cell + 1]; n++) {
        Tie tie{{}, {}, weight_of[nets_of[n]]};
        for (int each = first_pin[nets_of[n]]; each < first_pin[nets_of[n] + 1]; each++) {
            const Pin& pin = pins[each];
            if (pin.cell == cell) tie.own.add(pin.x, pin.y);
            else if (pin.cell < 0) tie.others.add(pin.x, pin.y);
            else tie.others.add(x_of(pin), y_of(pin));
        }
        if (tie.others.left <= tie.others.right) ties.push_back(tie);
    }
}

// Weighted half perimeter of a cell's nets if the cell were at this position, from `ties`.
int64_t wires_at(int cell, int at, int row, bool mirror) {
    const int x = at * site, y = row * row_height, w = width[cell] * site;
    int64_t sum = 0;
    for (const Tie& tie : ties) {
        const int left = x + (mirror ? w - tie.own.right : tie.own.left), right = x + (mirror ? w - tie.own.left : tie.own.right);
        const int low = y + (flipped(row) ? row_height - tie.own.high : tie.own.low);
        const int high = y + (flipped(row) ? row_height - tie.own.low : tie.own.high);
        const int across = std::max(tie.others.right, right) - std::min(tie.others.left, left);
        sum += tie.weight * (across + std::max(tie.others.high, high) - std::min(tie.others.low, low));
    }
    return sum;
}

struct Span {
    int from, to;
    int nearest(int value) const { return std::clamp(value, from, to); }
};

Span middle_of_ends() {
    const size_t half = ends.size() / 2;
    std::sort(ends.begin(), ends.end());
    return {ends[half - 1], ends[half]};
}

// The optimal first sites of a cell, from `ties`.
Span wanted_sites(int cell, bool mirror) {
    ends.clear();
    const int w = width[cell] * site;
    for (const Tie& tie : ties) {
        ends.push_back(tie.others.left - (mirror ? w - tie.own.right : tie.own.left));
        ends.push_back(tie.others.right - (mirror ? w - tie.own.left : tie.own.right));
    }
    const Span span = middle_of_ends();
    auto whole = [](int x) { return int(std::lround(double(x) / site)); };
    return {whole(span.from), whole(span.to)};
}

Span wanted_rows() {
    ends.clear();
    for (const Tie& tie : ties) ends.push_back(tie.others.low - row_height / 2), ends.push_back(tie.others.high - row_height / 2);
    const Span span = middle_of_ends();
    auto whole = [](int y) { return std::clamp(int(std::lround(double(y) / row_height)), 0, rows - 1); };
    return {whole(span.from), whole(span.to)};
}

// ---- room

int place_in_row(int row, int at) {
    const auto& all = order[row];
    auto left = [](int cell, int x) { return start[cell] < x; };
    return int(std::lower_bound(all.begin(), all.end(), at, left) - all.begin());
}

// The gap at a place in a row's order: `free_from` is the end of the cell before it, `free_to` the start of the cell there.
int free_from(int row, int place) {
    if (place == 0) return 0;
    const int before = order[row][place - 1];
    return start[before] + width[before];
}

int free_to(int row, int place) { return place == int(order[row].size()) ? sites : start[order[row][place]]; }

int spot(int row, int at, int w) { return row / SPOT_ROWS * spots_across + (at + w / 2) / spot_sites; }

void count_spots(int cap) {
    spot_sites = SPOT_ROWS * row_height / site;
    spots_across = (sites - 1) / spot_sites + 1;
    const int spots_up = (rows - 1) / SPOT_ROWS + 1;
    spot_used.assign(size_t(spots_across) * spots_up, 0), spot_room = spot_used;
    for (int n = 0; n < spots_across * spots_up; n++) {
        const int high = std::min(SPOT_ROWS, rows - n / spots_across * SPOT_ROWS);
        const int across = std::min(spot_sites, sites - n % spots_across * spot_sites);
        spot_room[n] = int(int64_t(high) * across * cap / 1000);
    }
    for (int cell = 0; cell < cells; cell++) spot_used[spot(row_of[cell], start[cell], width[cell])] += width[cell];
}

bool has_room(int from, int to, int more) { return from == to || more <= 0 || spot_used[to] + more <= spot_room[to]; }

void set_place(int cell, int row, int at) {
    spot_used[spot(row_of[cell], start[cell], width[cell])] -= width[cell];
    row_of[cell] = row, start[cell] = at;
    spot_used[spot(row, at, width[cell])] += width[cell];
}

// ---- improvement

struct Change {
    int64_t gain = 0;
    int row = 0, place = 0, at = 0;
    int other = -1, other_at = 0;  // the cell that it is swapped with
};

void try_gap(int cell, int row, int place, int wanted, int64_t now, Change& best) {
    const int from = free_from(row, place), to = free_to(row, place) - width[cell];
    if (from > to) return;
    const int at = std::clamp(wanted, from, to);
    const int64_t gain = now - wires_at(cell, at, row, mirrored[cell]);
    if (gain <= best.gain) return;
    if (!has_room(spot(row_of[cell], start[cell], width[cell]), spot(row, at, width[cell]), width[cell])) return;
    best = {gain, row, place, at, -1, 0};
}

void try_exchange(int cell, int own_place, int row, int place, int wanted, int64_t now, Change& best) {
    const int other = order[row][place], own_row = row_of[cell];
    if (row == own_row && std::abs(place - own_place) < 2) return;
    const int from = free_from(row, place), to = free_to(row, place + 1) - width[cell];
    const int own_from = free_from(own_row, own_place), own_to = free_to(own_row, own_place + 1) - width[other];
    if (from > to || own_from > own_to) return;
    const int at = std::clamp(wanted, from, to), other_at = std::clamp(start[cell] + (width[cell] - width[other]) / 2, own_from, own_to);
    if (now - wires_at(cell, at, row, mirrored[cell]) <= best.gain) return;
    const int here = spot(own_row, start[cell], width[cell]), there = spot(row, start[other], width[other]);
    const int more = width[cell] - width[other];
    if (!has_room(here, there, more) || !has_room(there, here, -more)) return;
    const std::array<int, 2> both = {cell, other};
    const int old_at = start[cell], old_other = start[other];
    const int64_t before = wires_of(both);
    row_of[cell] = row, start[cell] = at, row_of[other] = own_row, start[other] = other_at;
    const int64_t gain = before - wires_of(both);
    row_of[cell] = own_row, start[cell] = old_at, row_of[other] = row, start[other] = old_other;
    if (gain > best.gain) best = {gain, row, place, at, other, other_at};
}

void make(int cell, const Change& change) {
    const int own_row = row_of[cell], own_place = place_in_row(own_row, start[cell]);
    if (change.other >= 0) {
        order[change.row][change.place] = cell, order[own_row][own_place] = change.other;
        set_place(change.other, own_row, change.other_at);
        set_place(cell, change.row, change.at);
        return;
    }
    order[own_row].erase(order[own_row].begin() + own_place);
    const int place = change.place - (change.row == own_row && change.place > own_place);
    order[change.row].insert(order[change.row].begin() + place, cell);
    set_place(cell, change.row, change.at);
}

// Make the best move of a cell; return false if none shortens its wires.
bool improve_place(int cell) {
    find_ties(cell);
    if (ties.empty()) return false;
    const Span across = wanted_sites(cell, mirrored[cell]), up = wanted_rows();
    const int row_now = row_of[cell], at_now = start[cell], wanted = std::clamp(across.nearest(at_now), 0, sites - width[cell]);
    const int wanted_row = up.nearest(row_now);
    const int64_t now = wires_at(cell, at_now, row_now, mirrored[cell]);
    if (wires_at(cell, wanted, wanted_row, mirrored[cell]) >= now) return false;
    const int own_place = place_in_row(row_now, at_now);
    Change best;
    for (int row = std::max(0, wanted_row - ROWS_TRIED); row <= std::min(rows - 1, wanted_row + ROWS_TRIED); row++) {
        const int place = place_in_row(row, wanted), count = int(order[row].size());
        for (int n = std::max(0, place - TRIED); n <= std::min(count, place + TRIED); n++) {
            // the gaps next to the cell itself are left to `slide`
            if (row != row_now || (n != own_place && n != own_place + 1)) try_gap(cell, row, n, wanted, now, best);
            if (n < count && order[row][n] != cell) try_exchange(cell, own_place, row, n, wanted, now, best);
        }
    }
    if (best.gain > 0) make(cell, best);
    return best.gain > 0;
}

// Put every three neighbours of a row into their best order, without changing the gaps between them.
void improve_order(int row) {
    auto& row_cells = order[row];
    for (size_t n = 0; n + 2 < row_cells.size(); n++) {
        const std::array<int, 3> now = {row_cells[n], row_cells[n + 1], row_cells[n + 2]};
        const int from = start[now[0]], first_gap = start[now[1]] - from - width[now[0]];
        const int second_gap = start[now[2]] - start[now[1]] - width[now[1]];
        auto stand = [&](const std::array<int, 3>& each) {
            start[each[0]] = from;
            start[each[1]] = from + width[each[0]] + first_gap;
            start[each[2]] = start[each[1]] + width[each[1]] + second_gap;
        };
        std::array<int, 3> turn = {0, 1, 2}, best = now;
        int64_t least = wires_of(now);
        while (std::next_permutation(turn.begin(), turn.end())) {
            const std::array<int, 3> each = {now[turn[0]], now[turn[1]], now[turn[2]]};
            stand(each);
            int64_t wires = 0;
            for (int net : touched) wires += half_perimeter(net);
            if (wires < least) least = wires, best = each;
        }
        stand(best);
        std::copy(best.begin(), best.end(), row_cells.begin() + n);
    }
}

void slide(int row) {
    for (int place = 0; place < int(order[row].size()); place++) {
        const int cell = order[row][place], from = free_from(row, place), to = free_to(row, place + 1) - width[cell];
        find_ties(cell);
        if (ties.empty()) continue;
        int64_t least = wires_at(cell, start[cell], row, mirrored[cell]);
        for (bool mirror : {bool(mirrored[cell]), !mirrored[cell]}) {
            const int at = std::clamp(wanted_sites(cell, mirror).nearest(start[cell]), from, to);
            const int64_t wires = wires_at(cell, at, row, mirror);
            if (wires < least) least = wires, start[cell] = at, mirrored[cell] = mirror;
        }
    }
}

void improve(int cap, int most_rounds) {
    int64_t wires = all_wires();
    for (int turn = 0; turn < most_rounds; turn++) {
        count_spots(cap);
        int moved = 0;
        for (int cell = 0; cell < cells; cell++) moved += improve_place(cell);
        for (int row = 0; row < rows; row++) improve_order(row);
        for (int row = 0; row < rows; row++) slide(row);
        const int64_t before = wires;
        wires = all_wires();
        std::fprintf(stderr, "round %d %d\n", turn + 1, moved);
        if (double(before - wires) < LITTLE * double(before)) break;
    }
}

void read_nets() {
    const int nets = read();
    std::vector<std::vector<int>> of(cells);
    first_pin.push_back(0);
    for (int n = 0; n < nets; n++) {
        const int weight = read(), count = read(), net = int(first_pin.size()) - 1;
        for (int k = 0; k < count; k++) {
            const int cell = read(), x = read(), y = read();
            if (count > 1 && count <= WIDEST) {
                pins.push_back({cell, x, y});
                if (cell >= 0 && (of[cell].empty() || of[cell].back() != net)) of[cell].push_back(net);
            }
        }
        if (count > 1 && count <= WIDEST) first_pin.push_back(int(pins.size())), weight_of.push_back(weight);
    }
    first_net.push_back(0);
    for (const auto& each : of) {
        nets_of.insert(nets_of.end(), each.begin(), each.end());
        first_net.push_back(int(nets_of.size()));
    }
}

}  // namespace

int main() {
    rows = read(), sites = read(), site = read(), row_height = read(), first_flipped = read();
    const int cap = read(), most_rounds = read();
    cells = read();
    width.resize(cells), wish_x.resize(cells), wish_y.resize(cells);
    row_of.assign(cells, 0), start.assign(cells, 0), mirrored.assign(cells, 0);
    for (int cell = 0; cell < cells; cell++) width[cell] = read(), wish_x[cell] = read(), wish_y[cell] = read();
    read_nets();
    const int without_row = into_rows();
    std::printf("%d\n", without_row);
    if (without_row) return 0;
    improve(cap, most_rounds);
    for (int cell = 0; cell < cells; cell++) std::printf("%d %d %d\n", row_of[cell], start[cell], int(mirrored[cell]));
    return 0;
}
