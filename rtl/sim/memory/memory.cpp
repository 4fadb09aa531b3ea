// The memory of tests in C++, the twin of in_python.py. The text of model.cpp precedes it, and so does the macro
// MEMORY_PORTS(PORT), which calls PORT(name, bits of opaque, of the address and of data) for each memory port of the
// design.

extern "C" {

// Mirrored by `Plan` in in_cpp.py.
struct MemoryPlan {
    uint8_t* data;
    uint64_t size;
    const int64_t* first_block;  // of each request, and the end
    const uint64_t* blocks;      // address, bytes, and the place in contents of each block
    const uint8_t* contents;
    const int32_t* delays;    // of answers, by the number of answered requests
    const int64_t* kept;      // for each request the place of its memory in `memories`, or -1
    uint8_t* memories;
    uint64_t threshold;  // of random stalls
    uint32_t writable;   // a bit for each port
    uint32_t settled;    // a write while all requests are answered is refused
};

// Mirrored by `State` in in_cpp.py.
struct MemoryState {
    int32_t port;  // of the fault; -1: none
    int32_t kind;
    uint64_t address;
    uint64_t nbytes;
    int64_t count;  // requests before it
    int32_t in_flight;
    int32_t untaken[MOST_PORTS];
};

}  // extern "C"

namespace {

// outcomes besides those of model.cpp; mirrored in in_cpp.py
constexpr Outcome REFUSED = static_cast<Outcome>(16), REQUEST_WITHDRAWN = static_cast<Outcome>(17),
                  REQUEST_CHANGED = static_cast<Outcome>(18);

// n bits, at most 64, from `low` on
inline uint64_t bits(const uint32_t* words, unsigned low, unsigned n) {
    uint64_t value = 0;
    for (unsigned i = 0; i < n; i++) value |= uint64_t(words[(low + i) / 32] >> (low + i) % 32 & 1) << i;
    return value;
}

inline void set_bits(uint32_t* words, unsigned low, unsigned n, uint64_t value) {
    for (unsigned i = 0; i < n; i++) words[(low + i) / 32] |= uint32_t(value >> i & 1) << (low + i) % 32;
}

constexpr unsigned log2_of(unsigned n) { return n == 1 ? 0 : 1 + log2_of(n / 2); }

template <typename Request, typename Response, unsigned OPAQUE, unsigned ADDRESS, unsigned DATA>
class MemoryPort {
    static constexpr unsigned LEN = log2_of(DATA / 8), NBYTES = DATA / 8;

  public:
    void forget() {
        promise.forget();
        head = waiting = 0;
        count = 0;
        offers = false;
    }

    // Set the inputs of a cycle; return whether one changed.
    template <typename Bit>
    bool drive(uint64_t cycle, bool hold_request, bool hold_answer, Bit& rdy, Bit& val, Response& msg) {
        const bool ready = waiting < CAPACITY && !hold_request;
        bool changed = rdy != ready;
        rdy = ready;
        if (taken || (!offers && val)) {
            val = 0;
            clear(msg);
            changed = true;
            offers = taken = false;
        }
        if (!offers && waiting && queue[head].from <= cycle && !hold_answer) {
            put(msg, queue[head].words);
            val = changed = offers = true;
        }
        return changed;
    }

    // Do the access of a cycle.
    Outcome sample(uint64_t cycle, bool val, bool rdy, const Request& msg, bool takes, const MemoryPlan& memory,
                   int32_t delay, bool in_flight, bool writable, MemoryState& fault) {
        if (offers && takes) {
            head = (head + 1) % CAPACITY;
            waiting--;
            taken = true;
        }
        fault.count = count;
        const Outcome broken = promise.check(val, rdy, msg);
        if (broken) return broken == WITHDRAWN ? REQUEST_WITHDRAWN : REQUEST_CHANGED;
        if (!val || !rdy) return RUNNING;
        uint32_t words[words_of<Request>];
        get(msg, words);
        const uint64_t len = bits(words, DATA, LEN);
        fault.nbytes = len ? len : NBYTES;
        fault.address = bits(words, DATA + LEN, ADDRESS);
        fault.kind = bits(words, DATA + LEN + ADDRESS + OPAQUE, 4);
        fault.in_flight = in_flight;
        const bool writes = fault.kind == int32_t(WRITE);
        if ((fault.kind != int32_t(READ) && !writes) || (writes && (!in_flight || !writable)) ||
            fault.address > memory.size - fault.nbytes || fault.address % NBYTES + fault.nbytes > NBYTES)
            return REFUSED;
        count++;
        Answer& answer = queue[(head + waiting++) % CAPACITY];
        answer = Answer{cycle + 1 + delay, {}};
        auto* const bytes = reinterpret_cast<uint8_t*>(writes ? words : answer.words);
        if (writes) std::memcpy(memory.data + fault.address, bytes, fault.nbytes);
        else std::memcpy(bytes, memory.data + fault.address, fault.nbytes);
        if (!writes) set_bits(answer.words, DATA, LEN, len);
        set_bits(answer.words, DATA + LEN + 2, OPAQUE, bits(words, DATA + LEN + ADDRESS, OPAQUE));
        set_bits(answer.words, DATA + LEN + 2 + OPAQUE, 4, fault.kind);
        return RUNNING;
    }

    uint32_t untaken() const { return waiting; }

  private:
    struct Answer {
        uint64_t from;  // the first cycle in which it is offered
        uint32_t words[words_of<Response>];
    };
    Answer queue[CAPACITY];
    uint32_t head = 0, waiting = 0;
    int64_t count = 0;
    bool offers = false, taken = false;  // an answer is offered; it was accepted in the last cycle
    Held<Request> promise;
};

#define OF(name) std::remove_reference_t<decltype(VHarness::name)>

class Memory {
  public:
    static constexpr int PORTS = 0
#define PORT(name, opaque, address, data) +1
        MEMORY_PORTS(PORT)
#undef PORT
        ;

    void start(const MemoryPlan& p, VHarness& top) {
        plan = p;
        fault = MemoryState{};
        fault.port = -1;
#define PORT(name, opaque, address, data) \
    name##_port.forget(); \
    top.name##_req_rdy = top.name##_resp_val = 0; \
    clear(top.name##_resp_msg);
        MEMORY_PORTS(PORT)
#undef PORT
        (void)top;
    }

    bool has_image(int64_t request) const { return PORTS && plan.first_block[request] < plan.first_block[request + 1]; }

    void load(int64_t request) {
        if (!PORTS) return;
        for (int64_t i = plan.first_block[request]; i < plan.first_block[request + 1]; i++) {
            const uint64_t* block = plan.blocks + 3 * i;
            std::memcpy(plan.data + block[0], plan.contents + block[2], block[1]);
        }
    }

    void keep(int64_t response) {
        if (PORTS && plan.kept[response] >= 0)
            std::memcpy(plan.memories + plan.kept[response] * plan.size, plan.data, plan.size);
    }

    bool drive(VHarness& top, uint64_t cycle, Random& random) {
        bool changed = false;
#define PORT(name, opaque, address, data) \
    { \
        const bool hold_request = random.state && random.draw() < plan.threshold; \
        const bool hold_answer = random.state && random.draw() < plan.threshold; \
        changed |= name##_port.drive(cycle, hold_request, hold_answer, top.name##_req_rdy, top.name##_resp_val, \
                              top.name##_resp_msg); \
    }
        MEMORY_PORTS(PORT)
#undef PORT
        (void)top, (void)cycle, (void)random;
        return changed;
    }

    int32_t delay(int64_t answered) const { return PORTS ? plan.delays[answered] : 0; }

    Outcome sample(const VHarness& top, uint64_t cycle, int32_t delay, bool in_flight) {
        int32_t number = 0;
#define PORT(name, opaque, address, data) \
    if (const Outcome outcome = name##_port.sample(cycle, top.name##_req_val, top.name##_req_rdy, top.name##_req_msg, \
                                            top.name##_resp_rdy, plan, delay, in_flight || !plan.settled, plan.writable >> number & 1, fault)) { \
        fault.port = number; \
        return outcome; \
    } \
    number++;
        MEMORY_PORTS(PORT)
#undef PORT
        (void)top, (void)cycle, (void)delay, (void)in_flight, (void)number;
        return RUNNING;
    }

    MemoryState state() const {
        MemoryState found = fault;
        int32_t number = 0;
#define PORT(name, opaque, address, data) found.untaken[number++] = name##_port.untaken();
        MEMORY_PORTS(PORT)
#undef PORT
        (void)number;
        return found;
    }

  private:
    MemoryPlan plan{};
    MemoryState fault{};
#define PORT(name, opaque, address, data) \
    MemoryPort<OF(name##_req_msg), OF(name##_resp_msg), opaque, address, data> name##_port;
    MEMORY_PORTS(PORT)
#undef PORT
};

}  // namespace
