// A VCD file that survives a full disk: on errors, Verilator's own calls a handler that flushes the same file, in an endless loop.
//
// It precedes a driver that writes waveforms (model.cpp, or PyMTL3's). Data that cannot be written is dropped, and the error is recorded.

#ifdef WAVES_VCD
#include "verilated_vcd_c.h"

#include <cerrno>

namespace {

class WaveFile : public VerilatedVcdFile {
  public:
    explicit WaveFile(int* failed) : failed(failed) {}

    ssize_t write(const char* from, ssize_t count) override {
        if (!*failed) {
            const ssize_t done = VerilatedVcdFile::write(from, count);
            if (done >= 0 || errno == EAGAIN || errno == EINTR) return done;
            *failed = errno;
        }
        return count;
    }

  private:
    int* failed;  // errno of the first write that failed
};

}  // namespace
#endif

