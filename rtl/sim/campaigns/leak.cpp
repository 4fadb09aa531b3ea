// Driver of leak.py: operations one after the other on one model, and the moments of its register activity in each cycle.
//
// The text of sites.cpp precedes it. Cycle 0 of an operation is the first in which its request is offered, which is the cycle after the
// response of the previous operation; the sink is always ready. The effects of the edge at the end of a cycle belong to that cycle.
// The first operation waits until the machine is ready: after reset it may overwrite its registers for many cycles.
//
// A stream of operations offers each request as soon as the previous one is accepted; only the cycles of its handshakes are recorded.

namespace {

enum Measure : int32_t { DISTANCE, WEIGHT };

constexpr int64_t MOST_CYCLES_TO_READY = 1 << 20;  // a machine may wait for an offer before it is ready

// Moments of a group of registers in a cycle, over all operations of a kind. They are integers and therefore exact.
struct Moments {
    int64_t sum, square;
};

class Driver : public SiteModel {
  public:
    using SiteModel::SiteModel;

    // One group after the other; the last contains all registers, and is the sum of the others.
    void watch(const char* scope, const char* name, int32_t group) {
        const Site site = find(scope, name);
        places.push_back({site.data, site.size * site.nelements, group});
        ngroups = std::max(ngroups, group + 2);
    }

    void power_up(Measure how, int32_t kinds) {
        measure = how;
        nkinds = kinds;
        leave_reset();
        for (int64_t i = 0; i < MOST_CYCLES_TO_READY && !ready(); i++) edge();
        std::size_t size = 0;
        for (const Place& place : places) size += (place.size + 7) / 8;
        before.assign(size, 0);
        now.assign(ngroups, 0);
        look();
    }

    // kinds: the kind of each operation; an operation with a negative kind is not counted.
    void start(int64_t count, const uint32_t* requests, const int8_t* kinds, uint32_t* answers, int64_t* cycles, uint64_t limit) {
        total = count, messages = requests, kind = kinds, responses = answers, lengths = cycles, max_cycles = limit;
        done = 0;
        cycle = 0;
    }

    // From the next start on, store the activity of all registers in the first cycles of each operation.
    void keep(int32_t* to, int64_t cycles) { traces = to, room = cycles; }

    // From power-up: the cycles in which the handshakes of each request and response fire, counted from the end of reset.
    void stream(int64_t count, const uint32_t* requests, int64_t* accepted, int64_t* responded, uint64_t limit) {
        total = count, messages = requests, fired_at = accepted, lengths = responded, max_cycles = limit;
        sent = done = 0;
        cycle = 0;
        leave_reset();
    }

    Outcome advance(uint64_t budget) {
        if (fired_at) return advance_stream(budget);
        for (; done < total; budget--) {
            if (!budget) return RUNNING;
            if (cycle >= max_cycles) return TIMEOUT;
            if (!cycle) offer(messages + done * words_of<decltype(VHarness::istream_msg)>);
            settle();
            const bool fired = top->istream_val && top->istream_rdy;
            const bool answered = top->ostream_val;
            if (answered) get(top->ostream_msg, responses + done * words_of<decltype(VHarness::ostream_msg)>);
            edge();
            look();
            if (kind[done] >= 0) count(kind[done]);
            if (static_cast<int64_t>(cycle) < room) traces[done * room + cycle] = now.back();
            if (fired) {
                taken = std::max(taken, static_cast<int64_t>(cycle));
                withdraw();
            }
            cycle++;
            if (answered) {
                lengths[done++] = cycle;
                cycle = 0;
            }
        }
        return FINISHED;
    }

    int64_t done = 0;
    int64_t taken = 0;  // the last cycle in which a request was accepted
    std::vector<Moments> moments;  // [cycle][kind][group]

  private:
    bool ready() {
        settle();
        return top->istream_rdy;
    }

    void leave_reset() {
        in_reset();
        for (uint64_t i = 0; i < RESET_CYCLES; i++) step();
        top->reset = 0;
        load();
    }

    Outcome advance_stream(uint64_t budget) {
        for (; done < total; budget--) {
            if (!budget) return RUNNING;
            if (cycle >= max_cycles) return TIMEOUT;
            if (sent < total && !top->istream_val) offer(messages + sent * words_of<decltype(VHarness::istream_msg)>);
            settle();
            const bool fired = top->istream_val && top->istream_rdy;
            const bool answered = top->ostream_val;
            edge();
            if (fired) {
                fired_at[sent++] = cycle;
                withdraw();
            }
            if (answered) {
                if (done == sent) return UNEXPECTED;
                lengths[done++] = cycle;
            }
            cycle++;
        }
        return FINISHED;
    }

    struct Place {
        const uint8_t* data;
        std::size_t size;
        int32_t group;
    };

    // Store the activity of the registers in `now`, by group.
    void look() {
        std::fill(now.begin(), now.end(), 0);
        uint64_t* was = before.data();
        for (const Place& place : places) {
            int32_t bits = 0;
            for (std::size_t at = 0; at < place.size; at += 8, was++) {
                uint64_t is = 0;
                std::memcpy(&is, place.data + at, std::min<std::size_t>(8, place.size - at));
                if (measure == WEIGHT) bits += ones(is);
                else if (is != *was) bits += ones(is ^ *was);
                *was = is;
            }
            now[place.group] += bits;
            now.back() += bits;
        }
    }

    void count(int32_t of_kind) {
        const std::size_t row = (cycle * nkinds + of_kind) * ngroups;
        if (row + ngroups > moments.size()) moments.resize((cycle + 1) * nkinds * ngroups, Moments{0, 0});
        for (int32_t group = 0; group < ngroups; group++) {
            const int64_t bits = now[group];
            moments[row + group].sum += bits;
            moments[row + group].square += bits * bits;
        }
    }

#ifdef __x86_64__
    __attribute__((target("popcnt")))
#endif
    static int32_t ones(uint64_t bits) { return __builtin_popcountll(bits); }

    std::vector<Place> places;
    std::vector<uint64_t> before;
    std::vector<int32_t> now;
    Measure measure = DISTANCE;
    int32_t nkinds = 0, ngroups = 1;
    int64_t total = 0, room = 0;
    int32_t* traces = nullptr;
    const uint32_t* messages = nullptr;
    const int8_t* kind = nullptr;
    uint32_t* responses = nullptr;
    int64_t* lengths = nullptr;
    int64_t* fired_at = nullptr;  // of a stream
    int64_t sent = 0;
    uint64_t cycle = 0, max_cycles = 0;
};

}  // namespace

API void sim_watch(Driver* sim, const char* scope, const char* name, int32_t group) { sim->watch(scope, name, group); }
API void sim_power_up(Driver* sim, int32_t measure, int32_t nkinds) { sim->power_up(static_cast<Measure>(measure), nkinds); }
API void sim_start(
    Driver* sim, int64_t total, const uint32_t* messages, const int8_t* kinds, uint32_t* responses, int64_t* lengths, uint64_t max_cycles) {
    sim->start(total, messages, kinds, responses, lengths, max_cycles);
}
API void sim_stream(Driver* sim, int64_t total, const uint32_t* messages, int64_t* accepted, int64_t* done, uint64_t max_cycles) {
    sim->stream(total, messages, accepted, done, max_cycles);
}
API void sim_traces(Driver* sim, int32_t* to, int64_t cycles) { sim->keep(to, cycles); }
API int64_t sim_done(Driver* sim) { return sim->done; }
API int64_t sim_taken(Driver* sim) { return sim->taken; }
// Return the number of values, and the values: sum and sum of squares, by cycle, kind and group.
API int64_t sim_moments(Driver* sim, const int64_t** to) {
    *to = reinterpret_cast<const int64_t*>(sim->moments.data());
    return 2 * sim->moments.size();
}
