// A master on the AXI4-Lite port of a packaged accelerator, TOP: one access at a time, with all channels ready.

#include <cstdint>
#include <memory>

#define API extern "C" __attribute__((visibility("default")))

namespace {

constexpr int LIMIT = 1000;  // cycles of an access
constexpr uint32_t NO_ANSWER = 16;  // AXI has the responses 0 to 3

VerilatedContext context;
std::unique_ptr<TOP> top;
uint32_t response;

void low() {
    top->aclk = 0;
    top->eval();
}

void edge() {
    top->aclk = 1;
    top->eval();
}

}  // namespace

API void bus_cycles(uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        low();
        edge();
    }
}

// A new model behind its reset.
API void bus_reset() {
    top = std::make_unique<TOP>(&context, "TOP");
    top->aresetn = 0;
    top->s_axi_awvalid = top->s_axi_wvalid = top->s_axi_arvalid = 0;
    top->s_axi_bready = top->s_axi_rready = 1;
    top->s_axi_wstrb = 15;
    bus_cycles(4);
    top->aresetn = 1;
}

API uint32_t bus_response() { return response; }

API uint32_t bus_interrupt() { return top->irq; }

API void bus_write(uint32_t address, uint32_t data) {
    top->s_axi_awaddr = address;
    top->s_axi_wdata = data;
    top->s_axi_awvalid = top->s_axi_wvalid = 1;
    response = NO_ANSWER;
    for (int i = 0; i < LIMIT && response == NO_ANSWER; i++) {
        low();
        const bool address_taken = top->s_axi_awready, data_taken = top->s_axi_wready;
        if (top->s_axi_bvalid) response = top->s_axi_bresp;
        edge();
        if (address_taken) top->s_axi_awvalid = 0;
        if (data_taken) top->s_axi_wvalid = 0;
    }
}

API uint32_t bus_read(uint32_t address) {
    top->s_axi_araddr = address;
    top->s_axi_arvalid = 1;
    response = NO_ANSWER;
    uint32_t data = 0;
    for (int i = 0; i < LIMIT && response == NO_ANSWER; i++) {
        low();
        const bool taken = top->s_axi_arready;
        if (top->s_axi_rvalid) {
            response = top->s_axi_rresp;
            data = top->s_axi_rdata;
        }
        edge();
        if (taken) top->s_axi_arvalid = 0;
    }
    return data;
}
