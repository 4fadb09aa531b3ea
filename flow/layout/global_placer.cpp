// Global placement: a position for every cell with short wires and a limited density, regardless of rows.
//
// The method is that of ePlace (Lu et al., ACM TODAES 20(2), 2015). Cells are charges; each step balances the gradient of the wire
// length against the electric field of all charges. The wire length is smooth: a weighted average replaces the outermost pin of a net
// (Hsu, Balabanov and Chang, IEEE TCAD 32(4), 2013). A cosine transform on a grid of bins computes the field. Fillers, which are
// charges without wires, occupy the area that may stay empty, so that cells do not spread over all of it. The weight of the field
// grows from step to step. Steps follow Nesterov's method, with a length from the change of the gradient. The placement ends when few
// cells are in bins above the target density.
//
// Input (numbers on stdin): width and height of the core, height of a row, target density in thousandths, maximum number of steps;
// number of cells, for each its width; number of nets, for each its weight in hundredths, the number of its pins, and for each pin its
// cell and the offset from that cell's lower left corner, or -1 and a position in the core. Output: number of steps; x and y of each
// cell's lower left corner.

#pragma GCC optimize("O3")  // vectorises the transforms, which process several columns at once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using Values = std::vector<float>;

constexpr double ENOUGH = 0.08;           // final overflow: fraction of the cells' area above the target of its bin
constexpr double FIRST_WEIGHT = 0.01;     // initial weight of the field relative to the wires
constexpr double GROWTH = 1.05, LEAST_GROWTH = 0.95;  // limits of the weight's growth per step
constexpr double CALM = 0.02;             // relative growth of the wires in a step at which the weight stays the same
constexpr int LEAST_BINS = 16, MOST_BINS = 1024;
constexpr int TRIALS = 4;                 // step lengths tried
constexpr int TOLD = 10;                  // steps between two progress reports
constexpr float STRETCH = 1.41421356f;    // least width of a charge in bins, so that the field is smooth
constexpr double FIRST_SPREAD = 0.02;     // fraction of the core, around its centre, that contains the cells initially

struct Pin {
    int cell;
    float x, y;  // from the centre of the cell, or in the core
};

double core_width, core_height, row_height, target;
int cells, nodes;  // nodes: cells, followed by fillers
Values width;
std::vector<Pin> pins;
std::vector<int> first_pin;  // of each net; the last element is the end
Values weight_of;            // of each net
Values degree;               // by cell: sum of the weights of the nets at its pins

int read() {
    int value = 0;
    if (std::scanf("%d", &value) != 1) std::exit(2);
    return value;
}

uint64_t state = 1;
float draw() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return float(state >> 40) / float(1 << 24);
}

// ---- the field

// A grid of bins, and the transforms between densities and frequencies; each row of the grid is one y.
struct Grid {
    int n;
    double dx, dy;
    Values real, imaginary, turn_cos, turn_sin, half_cos, half_sin, other;

    void make(int bins) {
        n = bins, dx = core_width / n, dy = core_height / n;
        real.assign(size_t(n) * n / 2, 0), imaginary = real, other.assign(size_t(n) * n, 0);
        turn_cos.resize(n / 2), turn_sin.resize(n / 2), half_cos.resize(n), half_sin.resize(n);
        for (int k = 0; k < n; k++) {
            const double angle = M_PI * k / (2.0 * n);
            half_cos[k] = float(std::cos(angle)), half_sin[k] = float(std::sin(angle));
            if (k < n / 2) turn_cos[k] = float(std::cos(4 * angle)), turn_sin[k] = float(-std::sin(4 * angle));
        }
    }

    // Index of the k-th input of the Fourier transform that computes a cosine transform: even indices ascending, then odd ones descending.
    int drawn(int k) const { return k < n / 2 ? 2 * k : 2 * (n - k) - 1; }

    // Fourier transform of the columns; two columns of the grid are the real and imaginary parts of one.
    void fourier() {
        const int half = n / 2;
        for (int i = 1, j = 0; i < n; i++) {
            int bit = n >> 1;
            for (; j & bit; bit >>= 1) j ^= bit;
            j ^= bit;
            if (i < j) {
                std::swap_ranges(&real[size_t(i) * half], &real[size_t(i) * half] + half, &real[size_t(j) * half]);
                std::swap_ranges(&imaginary[size_t(i) * half], &imaginary[size_t(i) * half] + half, &imaginary[size_t(j) * half]);
            }
        }
        for (int span = 1; span < n; span *= 2)
            for (int block = 0; block < n; block += 2 * span)
                for (int k = 0; k < span; k++) {
                    const float c = turn_cos[k * (n / 2 / span)], s = turn_sin[k * (n / 2 / span)];
                    float* __restrict a = &real[size_t(block + k) * half];
                    float* __restrict b = &imaginary[size_t(block + k) * half];
                    float* __restrict p = &real[size_t(block + k + span) * half];
                    float* __restrict q = &imaginary[size_t(block + k + span) * half];
                    for (int m = 0; m < half; m++) {
                        const float x = p[m] * c - q[m] * s, y = p[m] * s + q[m] * c;
                        p[m] = a[m] - x, q[m] = b[m] - y;
                        a[m] += x, b[m] += y;
                    }
                }
    }

    // Cosine transform of the columns of `map`.
    void cosines(Values& map) {
        const int half = n / 2;
        for (int k = 0; k < n; k++) {
            const float* from = &map[size_t(drawn(k)) * n];
            std::copy(from, from + half, &real[size_t(k) * half]);
            std::copy(from + half, from + n, &imaginary[size_t(k) * half]);
        }
        fourier();
        for (int k = 0; k < n; k++) {
            const int back = (n - k) % n;
            const float *a = &real[size_t(k) * half], *b = &imaginary[size_t(k) * half];
            const float *p = &real[size_t(back) * half], *q = &imaginary[size_t(back) * half];
            float *left = &map[size_t(k) * n], *right = left + half;
            const float c = half_cos[k] / 2, s = half_sin[k] / 2;
            for (int m = 0; m < half; m++) {
                left[m] = (a[m] + p[m]) * c + (b[m] - q[m]) * s;
                right[m] = (b[m] + q[m]) * c + (p[m] - a[m]) * s;
            }
        }
    }

    // Inverse transform: values from the coefficients in the rows of `map`, of which the first is not halved.
    void from_cosines(Values& map) {
        const int half = n / 2;
        for (int k = 0; k < n; k++) {
            const float *left = &map[size_t(k) * n], *right = left + half;
            const float c = half_cos[k], s = half_sin[k];
            float *a = &real[size_t(k) * half], *b = &imaginary[size_t(k) * half];
            const float* up = k ? &map[size_t(n - k) * n] : nullptr;
            // both halves: v = (X[k] - i X[n-k]) exp(i pi k / 2n), conjugated because `fourier` is the forward transform
            for (int m = 0; m < half; m++) {
                const float x = left[m], y = up ? up[m] : 0, z = right[m], w = up ? up[m + half] : 0;
                const float vr = x * c + y * s, vi = x * s - y * c, ur = z * c + w * s, ui = z * s - w * c;
                a[m] = vr - ui, b[m] = -(vi + ur);
            }
        }
        fourier();
        for (int k = 0; k < n; k++) {
            float* to = &map[size_t(drawn(k)) * n];
            const float *a = &real[size_t(k) * half], *b = &imaginary[size_t(k) * half];
            for (int m = 0; m < half; m++) to[m] = a[m], to[m + half] = -b[m];
        }
    }

    // The same for sines.
    void from_sines(Values& map) {
        for (int k = 1; k < n - k; k++) std::swap_ranges(&map[size_t(k) * n], &map[size_t(k) * n] + n, &map[size_t(n - k) * n]);
        std::fill(map.begin(), map.begin() + n, 0.0f);
        from_cosines(map);
        for (int k = 1; k < n; k += 2)
            for (int m = 0; m < n; m++) map[size_t(k) * n + m] = -map[size_t(k) * n + m];
    }

    void transpose(Values& map) {
        constexpr int BLOCK = 16;
        for (int i = 0; i < n; i += BLOCK)
            for (int j = 0; j < n; j += BLOCK)
                for (int k = i; k < i + BLOCK; k++)
                    for (int m = j; m < j + BLOCK; m++) other[size_t(m) * n + k] = map[size_t(k) * n + m];
        map.swap(other);
    }
};

Grid grid;
Values density, field_x, field_y;

// Visit each bin that a charge covers, with the part of the charge in it.
template <typename Visit>
void covered(int node, float x, float y, Visit visit) {
    const float least_x = STRETCH * float(grid.dx), least_y = STRETCH * float(grid.dy);
    const float w = std::max(width[node], least_x), h = std::max(float(row_height), least_y);
    const float share = width[node] * float(row_height) / (w * h);
    const float left = std::max(x - w / 2, 0.0f) / float(grid.dx), right = std::min(x + w / 2, float(core_width)) / float(grid.dx);
    const float low = std::max(y - h / 2, 0.0f) / float(grid.dy), high = std::min(y + h / 2, float(core_height)) / float(grid.dy);
    const int last_x = std::min(int(right), grid.n - 1), last_y = std::min(int(high), grid.n - 1);
    for (int j = int(low); j <= last_y; j++) {
        const float part = share * (std::min(high, float(j + 1)) - std::max(low, float(j)));
        for (int i = int(left); i <= last_x; i++)
            visit(size_t(j) * grid.n + i, part * (std::min(right, float(i + 1)) - std::max(left, float(i))));
    }
}

void add_charges(const Values& at, int first, int last) {
    for (int node = first; node < last; node++)
        covered(node, at[node], at[nodes + node], [](size_t bin, float share) { density[bin] += share; });
}

// Fill `density` with all charges; return the fraction of the cells' charge above the target of its bin.
double fill(const Values& at) {
    std::fill(density.begin(), density.end(), 0.0f);
    add_charges(at, 0, cells);
    double over = 0, all = 0;
    for (float each : density) over += std::max(0.0, each - target), all += each;
    add_charges(at, cells, nodes);
    return over / all;
}

void find_field() {
    const int n = grid.n;
    field_y = density;
    grid.cosines(field_y);
    grid.transpose(field_y);
    grid.cosines(field_y);
    grid.transpose(field_y);
    field_x.resize(field_y.size());
    for (int v = 0; v < n; v++)
        for (int u = 0; u < n; u++) {
            const double wu = M_PI * u / core_width, wv = M_PI * v / core_height, both = wu * wu + wv * wv;
            const double scale = both > 0 ? (u ? 2.0 : 1.0) * (v ? 2.0 : 1.0) / n / n / both : 0;
            const float weight = field_y[size_t(v) * n + u];
            field_x[size_t(v) * n + u] = float(weight * scale * wu);
            field_y[size_t(v) * n + u] = float(weight * scale * wv);
        }
    grid.from_cosines(field_x);
    grid.transpose(field_x);
    grid.from_sines(field_x);
    grid.transpose(field_x);
    grid.from_sines(field_y);
    grid.transpose(field_y);
    grid.from_cosines(field_y);
    grid.transpose(field_y);
}

// ---- the wires

// exp(x) for x <= 0, with a relative error of about 1e-4.
inline float decay(float x) {
    const float t = std::max(x, -60.0f) * 1.44269504f;
    const int whole = int(t) - 1;
    const float f = t - float(whole);  // 0 to 2
    const float g = f * 0.5f;
    float p = 1.0f + g * (0.69314718f + g * (0.24022651f + g * (0.05550411f + g * (0.00961813f + g * 0.00133336f))));
    const int32_t bits = (whole + 127) << 23;
    float scale;
    std::memcpy(&scale, &bits, 4);
    return p * p * scale;
}

Values place_of, toward, away;  // of the pins of one net

// Add the gradient of the weighted smooth wire length along one axis; return the weighted extent of all nets along it.
double pull(const Values& at, int axis, float smooth, float* gradient) {
    double length = 0;
    const float* base = &at[size_t(axis) * nodes];
    const float inverse = 1 / smooth;
    for (size_t net = 0; net + 1 < first_pin.size(); net++) {
        const int begin = first_pin[net], count = first_pin[net + 1] - begin;
        float low = 1e30f, high = -1e30f;
        for (int k = 0; k < count; k++) {
            const Pin& pin = pins[begin + k];
            const float p = (axis ? pin.y : pin.x) + (pin.cell >= 0 ? base[pin.cell] : 0);
            place_of[k] = p;
            low = std::min(low, p), high = std::max(high, p);
        }
        length += weight_of[net] * (high - low);
        float up = 0, up_at = 0, down = 0, down_at = 0;
        for (int k = 0; k < count; k++) {
            const float a = decay((place_of[k] - high) * inverse), b = decay((low - place_of[k]) * inverse);
            toward[k] = a, away[k] = b;
            up += a, up_at += a * (place_of[k] - high), down += b, down_at += b * (place_of[k] - low);
        }
        const float top = up_at / up, bottom = down_at / down, per_up = 1 / up, per_down = 1 / down;
        for (int k = 0; k < count; k++) {
            const int cell = pins[begin + k].cell;
            if (cell < 0) continue;
            const float p = place_of[k];
            gradient[cell] += weight_of[net] * (toward[k] * per_up * (1 + (p - high - top) * inverse) -
                                                away[k] * per_down * (1 - (p - low - bottom) * inverse));
        }
    }
    return length;
}

// ---- the steps

struct Slope {
    double length, overflow;
    Values wire, field;
};

void measure(const Values& at, float smooth, Slope& slope) {
    slope.wire.assign(at.size(), 0), slope.field.assign(at.size(), 0);
    slope.length = pull(at, 0, smooth, &slope.wire[0]) + pull(at, 1, smooth, &slope.wire[nodes]);
    slope.overflow = fill(at);
    find_field();
    const float area = float(grid.dx * grid.dy);
    for (int node = 0; node < nodes; node++) {
        float x = 0, y = 0;
        covered(node, at[node], at[nodes + node], [&](size_t bin, float share) { x += share * field_x[bin], y += share * field_y[bin]; });
        slope.field[node] = -x * area, slope.field[nodes + node] = -y * area;
    }
}

// The preconditioned gradient: each charge's gradient divided by its stiffness.
void direction(const Slope& slope, double weight, Values& to) {
    to.resize(slope.wire.size());
    for (int node = 0; node < nodes; node++) {
        const float area = width[node] * float(row_height);
        const float stiff = std::max(1.0f, (node < cells ? degree[node] : 0) + float(weight) * area);
        for (size_t each : {size_t(node), size_t(nodes) + node})
            to[each] = (slope.wire[each] + float(weight) * slope.field[each]) / stiff;
    }
}

double size(const Values& a, const Values& b) {
    double sum = 0;
    for (size_t n = 0; n < a.size(); n++) sum += double(a[n] - b[n]) * (a[n] - b[n]);
    return std::sqrt(sum);
}

void inside(Values& at) {
    for (int node = 0; node < nodes; node++) {
        const float w = std::min(width[node] / 2, float(core_width / 2)), h = float(row_height / 2);
        at[node] = std::clamp(at[node], w, float(core_width) - w);
        at[nodes + node] = std::clamp(at[nodes + node], h, float(core_height) - h);
    }
}

float smoothness(double overflow) {
    return float(4 * (grid.dx + grid.dy) * std::pow(10, (overflow - 0.1) * 20 / 9 - 1));
}

// Move the charges until the overflow is small enough; return the number of steps.
int spread(Values& at, int most_steps) {
    Slope slope;
    Values leader = at, way, next_way, next_at(at.size()), next_leader(at.size());
    float smooth = smoothness(1);
    measure(leader, smooth, slope);
    double wire = 0, field = 0;
    for (size_t n = 0; n < at.size(); n++) wire += std::fabs(slope.wire[n]), field += std::fabs(slope.field[n]);
    double weight = field > 0 ? FIRST_WEIGHT * std::max(wire, 1.0) / field : 0;
    direction(slope, weight, way);
    // the first step moves charges by a tenth of a bin on average
    double length = 0;
    for (float each : way) length += std::fabs(each);
    double step = 0.1 * grid.dx * double(way.size()) / std::max(length, 1e-9);
    double pace = 1, before = slope.length, overflow = 1;
    const double first_overflow = slope.overflow;
    int turn = 0;
    for (; turn < most_steps && overflow > ENOUGH; turn++) {
        const double next_pace = (1 + std::sqrt(4 * pace * pace + 1)) / 2;
        for (int trial = 0; trial < TRIALS; trial++) {
            for (size_t n = 0; n < at.size(); n++) next_at[n] = leader[n] - float(step) * way[n];
            inside(next_at);
            const float onward = float((pace - 1) / next_pace);
            for (size_t n = 0; n < at.size(); n++) next_leader[n] = next_at[n] + onward * (next_at[n] - at[n]);
            inside(next_leader);
            measure(next_leader, smooth, slope);
            direction(slope, weight, next_way);
            const double steeper = size(next_way, way), proposed = steeper > 0 ? size(next_leader, leader) / steeper : step;
            const bool good = proposed > 0.95 * step;
            step = proposed;
            if (good) break;
        }
        at.swap(next_at), leader.swap(next_leader), way.swap(next_way);
        pace = next_pace;
        overflow = slope.overflow;
        if (turn % TOLD == 0) {
            const double far = (first_overflow - overflow) / std::max(first_overflow - ENOUGH, 1e-9);
            std::fprintf(stderr, "first %d 1000\n", int(1000 * std::clamp(far, 0.0, 1.0)));
        }
        smooth = smoothness(overflow);
        const double grown = slope.length - before;
        before = slope.length;
        weight *= std::clamp(std::pow(GROWTH, 1 - grown / (CALM * std::max(before, 1.0))), LEAST_GROWTH, GROWTH);
    }
    return turn;
}

}  // namespace

int main() {
    core_width = read(), core_height = read(), row_height = read(), target = read() / 1000.0;
    const int most_steps = read();
    cells = read();
    width.resize(cells), degree.assign(cells, 0);
    double area = 0;
    for (int cell = 0; cell < cells; cell++) {
        width[cell] = float(read());
        area += width[cell] * row_height;
    }
    const int nets = read();
    size_t widest = 0;
    first_pin.push_back(0);
    for (int net = 0; net < nets; net++) {
        const float weight = float(read()) / 100;
        const int count = read();
        for (int k = 0; k < count; k++) {
            Pin pin;
            pin.cell = read(), pin.x = float(read()), pin.y = float(read());
            if (pin.cell >= 0) pin.x -= width[pin.cell] / 2, pin.y = 0, degree[pin.cell] += weight;
            if (count > 1) pins.push_back(pin);
        }
        if (count > 1) first_pin.push_back(int(pins.size())), weight_of.push_back(weight);
        widest = std::max(widest, size_t(count));
    }
    place_of.resize(widest), toward.resize(widest), away.resize(widest);
    const double mean = cells ? area / row_height / cells : row_height;
    const int fillers = int(std::max(0.0, target * core_width * core_height - area) / (mean * row_height));
    nodes = cells + fillers;
    width.resize(nodes, float(mean));
    int bins = LEAST_BINS;
    while (bins < MOST_BINS && 2.0 * bins * bins < cells) bins *= 2;
    grid.make(bins);
    density.assign(size_t(bins) * bins, 0);
    // cells start near the centre, from which their wires pull them towards the ports; fillers start everywhere
    Values at(2 * size_t(nodes));
    for (int node = 0; node < nodes; node++)
        for (int axis : {0, 1}) {
            const double length = axis ? core_height : core_width, share = draw() - 0.5;
            at[size_t(axis) * nodes + node] = float(length * (0.5 + (node < cells ? FIRST_SPREAD : 1.0) * share));
        }
    inside(at);
    std::printf("%d\n", spread(at, most_steps));
    for (int cell = 0; cell < cells; cell++)
        std::printf("%d %d\n", int(std::lround(at[cell] - width[cell] / 2)), int(std::lround(at[nodes + cell] - row_height / 2)));
    return 0;
}
