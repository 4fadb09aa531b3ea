// SPDX-License-Identifier: @licence@
// The clock of the testbench, for Verilator of any release.

#include <memory>

#include "Vtb.h"
#include "verilated.h"
#if VM_COVERAGE
#include "verilated_cov.h"
#endif

int main(int argc, char **argv) {
  const auto context = std::make_unique<VerilatedContext>();
  context->commandArgs(argc, argv);
  const auto bench = std::make_unique<Vtb>(context.get());
  bench->clk = 0;
  while (!context->gotFinish()) {
    bench->clk = !bench->clk;
    context->timeInc(1);
    bench->eval();
  }
  bench->final();
#if VM_COVERAGE
  context->coveragep()->write("build/coverage.dat");
#endif
  return 0;
}
