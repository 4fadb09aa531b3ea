// Testbench of the processor with backend `native`: a program, a memory, a manager, and the commit port (base.py).
//
// The text of rtl/sim/model.cpp and constants that native.py generates from the tables of the processor precede it.
// The model is the harness that harness.py puts around the processor. Its inputs are registered, so the inputs of the
// next cycle are set before the clock edge that starts it.
// The order of events in a cycle must be the same as in pybench.py.

#include <algorithm>
#include <deque>
#include <vector>

extern "C" {

enum : uint32_t { IMEM, DMEM, MNGR2PROC, PROC2MNGR, PORTS };  // base.py: PORTS
enum : uint32_t { IMEM_REQ, DMEM_REQ, PROC2MNGR_MSG };        // subjects of a broken promise
constexpr uint32_t OPCODE = 0x7f;
constexpr uint32_t CSR_WORD = CSR_PROC2MNGR << 20 | SYSTEM, CSR_MASK = 0xfffu << 20 | OPCODE;

// Further ways to finish, in the order of native.py.
constexpr Outcome end(uint32_t number) { return Outcome(FIRST_END + number); }
constexpr Outcome HALTED = end(0), TOHOST = end(1), LIMIT = end(2), STARVED = end(3), MISALIGNED = end(4);
constexpr Outcome IN_TRAP_LOOP = end(5), WAITING = end(6), HANGING = end(7), ASLEEP = end(8);

// Mirrored by `_Job` in native.py.
struct Job {
    const uint32_t* regions;  // of memory: first address, end
    uint64_t region_count;
    const uint32_t* manager;
    uint64_t manager_count;
    uint64_t max_cycles;  // 0: none
    uint64_t hang_cycles;
    uint64_t accelerator_cycles;
    uint64_t latency;
    uint64_t extra;
    uint64_t threshold;
    uint32_t random[PORTS];
    uint32_t entry;
    uint32_t core_id;
    uint32_t tohost;
    bool has_tohost;
    bool record;
};

struct Commit {
    uint32_t pc, inst, rd, data, addr;
};

// Mirrored by `_Tally` in native.py.
struct Tally {
    uint64_t cycle;
    uint64_t instructions;
    uint64_t stats_instructions;
    uint64_t where[ISSUE + 1];
    uint64_t stats_where[ISSUE + 1];
    uint32_t a0;
    uint32_t stored;
    uint32_t trap[4];  // pc, inst, cause, tval
    uint32_t last_trap[4];
    uint64_t traps;  // for which a handler was entered
    uint64_t since;  // cycles since an instruction retired
    uint64_t waiting;  // for the accelerator or an interrupt, of these
    uint32_t last_pcs[LAST_PCS];
    uint64_t refused;  // data accesses outside of the memory
    uint64_t refused_cycle;  // of the first
    uint32_t refused_addr;
    uint32_t refused_write;
    uint32_t broken_port;
    uint32_t broken_addr;
    uint64_t broken_index;
    const uint32_t* output;
    uint64_t output_count;
    const Commit* commits;
    uint64_t commit_count;
};

}  // extern "C"

namespace {

// Words of 32 bits, in pages that are allocated when they are first written.
class Memory {
  public:
    // Make it empty; its pages are kept for the next run.
    void clear(const uint32_t* bounds, uint64_t count) {
        regions.assign(bounds, bounds + 2 * count);
        for (const uint32_t at : used) {
            std::memset(pages[at].get(), 0, PAGE);
            spare.push_back(std::move(pages[at]));
        }
        used.clear();
    }

    bool mapped(uint32_t addr) const {
        for (std::size_t i = 0; i < regions.size(); i += 2)
            if (addr >= regions[i] && addr < regions[i + 1]) return true;
        return false;
    }

    uint32_t read(uint32_t addr) const {
        const auto& page = pages[addr / PAGE];
        return page ? page[addr % PAGE / 4] : 0;
    }

    void write(uint32_t addr, uint32_t strobe, uint32_t data) {
        uint32_t mask = 0;
        for (int i = 0; i < 4; i++)
            if (strobe >> i & 1) mask |= 0xffu << 8 * i;
        uint32_t& word = page(addr)[addr % PAGE / 4];
        word = (word & ~mask) | (data & mask);
    }

    void load(uint32_t addr, const uint8_t* data, uint64_t count) {
        while (count) {
            const uint64_t here = std::min<uint64_t>(count, PAGE - addr % PAGE);
            std::memcpy(reinterpret_cast<uint8_t*>(page(addr)) + addr % PAGE, data, here);
            addr += here, data += here, count -= here;
        }
    }

  private:
    static constexpr uint32_t PAGE = 4096;  // bytes
    using Page = std::unique_ptr<uint32_t[]>;

    uint32_t* page(uint32_t addr) {
        Page& page = pages[addr / PAGE];
        if (!page) {
            if (spare.empty()) {
                page = std::make_unique<uint32_t[]>(PAGE / 4);
            } else {
                page = std::move(spare.back());
                spare.pop_back();
            }
            used.push_back(addr / PAGE);
        }
        return page.get();
    }

    std::vector<uint32_t> regions;
    std::vector<Page> pages = std::vector<Page>((1ull << 32) / PAGE);
    std::vector<Page> spare;
    std::vector<uint32_t> used;
};

// The random delays of one port.
struct Delays : Random {
    uint64_t threshold, range;

    bool stall() { return threshold && draw() < threshold; }
    uint64_t extra() { return range ? draw() * (range + 1) >> 32 : 0; }
};

struct Request {
    uint32_t control, addr, data;  // control: write, strobe
};

struct Answer {
    uint64_t from;  // first cycle in which it may be given
    uint32_t error, data;
};

// One port of the memory: accepts requests and answers in order.
class MemoryPort {
  public:
    void start(Memory& memory_, const Job& job, uint32_t port) {
        memory = &memory_;
        latency = job.latency;
        delays = {{job.random[port]}, job.threshold, job.extra};
        promise.forget();
        answers.clear();
        fired = refused = 0;
    }

    bool ready() { return !delays.stall(); }

    // The answer that may be given in this cycle, or null.
    const Answer* answer(uint64_t cycle) const {
        return !answers.empty() && answers.front().from <= cycle ? &answers.front() : nullptr;
    }
    void taken() { answers.pop_front(); }

    Outcome request(uint64_t cycle, bool val, bool rdy, const Request& req) {
        if (const Outcome broken = promise.check(val, rdy, req)) return broken;
        if (!(val && rdy)) return RUNNING;
        fired++;
        if (req.addr & 3) return MISALIGNED;
        Answer answer{0, 0, 0};
        if (!memory->mapped(req.addr)) {
            answer.error = 1;
            if (!refused++) first_refused = {cycle, req.addr, req.control >> 4};
        } else if (req.control >> 4) memory->write(req.addr, req.control & 15, req.data);
        else answer.data = memory->read(req.addr);
        answer.from = cycle + latency + delays.extra();
        answers.push_back(answer);
        return RUNNING;
    }

    uint64_t fired = 0;
    uint64_t refused = 0;  // accesses outside of the memory
    struct {
        uint64_t cycle;
        uint32_t addr, write;
    } first_refused{};

  private:
    Memory* memory;
    uint64_t latency;
    Delays delays;
    Held<Request> promise;
    std::deque<Answer> answers;
};

class Driver : public Model {
  public:
    using Model::Model;

    void start(const Job& given) {
        job = given;
        manager.assign(job.manager, job.manager + job.manager_count);
        memory.clear(job.regions, job.region_count);
        imem.start(memory, job, IMEM);
        dmem.start(memory, job, DMEM);
        source = {{job.random[MNGR2PROC]}, job.threshold, 0};
        sink = {{job.random[PROC2MNGR]}, job.threshold, 0};
        promise.forget();
        tally = Tally{};
        output.clear();
        commits.clear();
        sent = written = starved = quiet = waiting = looping = 0;
        offered = asleep = false;

        top->entry = job.entry;
        top->core_id = job.core_id;
        top->imem_req_rdy = top->dmem_req_rdy = top->proc2mngr_rdy = 0;
        give(nullptr, nullptr);
        top->mngr2proc_val = 0;
        top->mngr2proc_msg = 0;
        top->reset = 1;
        // reset reaches the registers of the harness at the first edge, and those of the processor at the next
        for (uint64_t i = 0; i < RESET_CYCLES; i++) step();
        top->reset = 0;
        drive();
        step();
    }

    void load(uint32_t addr, const uint8_t* data, uint64_t count) { memory.load(addr, data, count); }

    Outcome advance(uint64_t budget) {
        for (const uint64_t stop = tally.cycle + budget; tally.cycle < stop;) {
            Outcome outcome = sample();
            if (outcome == WITHDRAWN || outcome == CHANGED || outcome == MISALIGNED) return outcome;
            tally.cycle++;
            if (!outcome) outcome = limit();
            drive();
            step();
            if (outcome) return outcome;
        }
        return RUNNING;
    }

    void get_tally(Tally& to) {
        to = tally;
        to.since = quiet + waiting;
        to.waiting = waiting;
        to.refused = dmem.refused;
        to.refused_cycle = dmem.first_refused.cycle;
        to.refused_addr = dmem.first_refused.addr;
        to.refused_write = dmem.first_refused.write;
        to.output = output.data();
        to.output_count = output.size();
        to.commits = commits.data();
        to.commit_count = commits.size();
    }

  private:
    // Sample and serve the ports in this cycle.
    Outcome sample() {
        VHarness& t = *top;
        const uint64_t cycle = tally.cycle;
        Outcome broken = imem.request(
            cycle, t.imem_req_val, t.imem_req_rdy,
            {uint32_t(t.imem_req_write << 4 | t.imem_req_strobe), t.imem_req_addr, t.imem_req_data});
        if (broken) return blame(broken, IMEM_REQ, imem.fired, t.imem_req_addr);
        broken = dmem.request(
            cycle, t.dmem_req_val, t.dmem_req_rdy,
            {uint32_t(t.dmem_req_write << 4 | t.dmem_req_strobe), t.dmem_req_addr, t.dmem_req_data});
        if (broken) return blame(broken, DMEM_REQ, dmem.fired, t.dmem_req_addr);
        if (t.imem_resp_val && t.imem_resp_rdy) imem.taken();
        if (t.dmem_resp_val && t.dmem_resp_rdy) dmem.taken();
        if (t.mngr2proc_val && t.mngr2proc_rdy) {
            sent++;
            offered = false;
        }
        broken = promise.check(t.proc2mngr_val, t.proc2mngr_rdy, t.proc2mngr_msg);
        if (broken) return blame(broken, PROC2MNGR_MSG, output.size(), 0);
        if (t.proc2mngr_val && t.proc2mngr_rdy) output.push_back(t.proc2mngr_msg);

        const uint32_t slot = t.commit_val || t.commit_trap ? ISSUE : t.commit_bubble;
        tally.where[slot]++;
        starved = slot == BUBBLE_MANAGER && sent == manager.size() && !t.proc2mngr_val ? starved + 1 : 0;
        if (t.commit_stats) tally.stats_where[slot]++;
        if (t.commit_val) return retire();
        if (slot == BUBBLE_ACCELERATOR || slot == BUBBLE_SLEEP) {
            waiting++;
            asleep = slot == BUBBLE_SLEEP;
        } else {
            quiet++;
        }
        if (t.commit_trap) {
            const uint32_t trap[] = {t.commit_pc, t.commit_inst, t.commit_cause, t.commit_data};
            std::memcpy(t.commit_halt ? tally.trap : tally.last_trap, trap, sizeof trap);
            if (t.commit_halt) return HALTED;
            tally.traps++;
            looping++;
        }
        return RUNNING;
    }

    // Record the effects of the instruction at the commit port.
    Outcome retire() {
        const VHarness& t = *top;
        const uint32_t opcode = t.commit_inst & OPCODE;
        Commit commit{t.commit_pc, t.commit_inst, t.commit_wen ? t.commit_rd : 0u, 0, 0};
        if (commit.rd || opcode == STORE) commit.data = t.commit_data;
        if (opcode == LOAD || opcode == STORE) commit.addr = t.commit_addr;
        quiet = waiting = looping = 0;
        tally.last_pcs[tally.instructions++ % LAST_PCS] = commit.pc;
        if (t.commit_stats) tally.stats_instructions++;
        if (job.record) commits.push_back(commit);
        if ((commit.inst & CSR_MASK) == CSR_WORD) written++;
        if (commit.rd == A0) tally.a0 = commit.data;
        if (job.has_tohost && commit.addr == job.tohost && (commit.inst & SW_MASK) == SW && commit.data) {
            tally.stored = commit.data;
            // discard words of instructions after the end, which the pipeline has already executed
            output.resize(std::min<std::size_t>(written, output.size()));
            return TOHOST;
        }
        return RUNNING;
    }

    // Whether the run times out, and why.
    Outcome limit() const {
        if (looping >= LOOP_TRAPS) return IN_TRAP_LOOP;
        if (waiting >= job.accelerator_cycles) return asleep ? ASLEEP : WAITING;
        if (quiet >= job.hang_cycles) return HANGING;
        if (job.max_cycles && tally.cycle >= job.max_cycles) return LIMIT;
        return starved >= STARVED_CYCLES ? STARVED : RUNNING;
    }

    Outcome blame(Outcome broken, uint32_t port, uint64_t index, uint32_t addr) {
        tally.broken_port = port;
        tally.broken_index = index;
        tally.broken_addr = addr;
        return broken;
    }

    // Set the inputs of the next cycle.
    void drive() {
        top->imem_req_rdy = imem.ready();
        top->dmem_req_rdy = dmem.ready();
        give(imem.answer(tally.cycle), dmem.answer(tally.cycle));
        if (!source.stall() && sent < manager.size()) offered = true;
        top->mngr2proc_val = offered;
        top->mngr2proc_msg = offered ? manager[sent] : 0;
        top->proc2mngr_rdy = !sink.stall();
    }

    void give(const Answer* inst, const Answer* data) {
        top->imem_resp_val = inst != nullptr;
        top->imem_resp_error = inst ? inst->error : 0;
        top->imem_resp_data = inst ? inst->data : 0;
        top->dmem_resp_val = data != nullptr;
        top->dmem_resp_error = data ? data->error : 0;
        top->dmem_resp_data = data ? data->data : 0;
    }

    void step() {
        edge();
        settle();
    }

    Job job{};
    Tally tally{};
    Memory memory;
    MemoryPort imem, dmem;
    Delays source{}, sink{};
    Held<uint32_t> promise;
    std::vector<uint32_t> manager, output;
    std::vector<Commit> commits;
    uint64_t sent = 0, written = 0, starved = 0;
    uint64_t quiet = 0, waiting = 0;  // cycles since an instruction retired, as in pybench.py
    uint64_t looping = 0;             // traps since then
    bool offered = false;
    bool asleep = false;              // the last wait was that of wfi
};

}  // namespace

API void sim_start(Driver* sim, const Job* job) { sim->start(*job); }
API void sim_load(Driver* sim, uint32_t addr, const uint8_t* data, uint64_t count) { sim->load(addr, data, count); }
API void sim_state(Driver* sim, Tally* to) { sim->get_tally(*to); }
