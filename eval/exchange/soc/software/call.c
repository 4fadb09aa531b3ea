// Calls the accelerator on the bus with requests of its table, and compares the responses with those of the functional model.
// Output words per request: the status, then the words of the results. The exit code is 0 if all responses are correct.

#include "operands.h"
#include "platform.h"

enum { CALL = 1, END }; // a call lies between its two marks

static uint32_t results[RESULT_WORDS];

void on_machine(void) {}

void on_fault(uint32_t cause) {
  print("unexpected trap\n");
  word(cause);
  stop(3);
}

int main(void) {
  bool right = true;
  for (unsigned i = 0; i < ROWS; i++) {
    mark(CALL);
    uint32_t status = call(requests[i], results);
    mark(END);
    word(status);
    bool same = status == statuses[i];
    for (unsigned k = 0; k < RESULT_WORDS; k++) {
      word(results[k]);
      same = same && (status || results[k] == expected[i][k]); // a refused request has no results
    }
    print(same ? "ok\n" : "WRONG\n");
    right = right && same;
  }
  return right ? 0 : 1;
}
