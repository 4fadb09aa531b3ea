// A VCD file that a full disk does not stop: Verilator's own ends the process by a handler that flushes the same file, for ever.
//
// It comes before a driver that writes waveforms (model.cpp, or PyMTL3's). What cannot be written is dropped, and the reason kept.

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

