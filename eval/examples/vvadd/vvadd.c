// Adds two vectors with the accelerator: modexlab proc vvadd.c --accelerator .

#include "vvadd.h"

enum { N = 20 };

uint32_t a[N], b[N], total[N];

int main(void) {
  for (uint32_t i = 0; i < N; i++) {
    a[i] = i * i;
    b[i] = 7 - i;
  }
  if (vvadd_call(a, b, total, N) != N) return 1;
  for (uint32_t i = 0; i < N; i++)
    if (total[i] != i * i + 7 - i) return 2;
  return 0;
}
