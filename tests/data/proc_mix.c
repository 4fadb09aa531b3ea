// A mix of C features for the compiler and the processor: recursion, switches, function pointers, bytes, half words, products
// and quotients of 32 and 64 bits, structures by value. Each result is output as a word; tests/proc/test_c.py has the expected
// words.

#include "manager.h"

// CRC-32 (IEEE 802.3), bit by bit
static uint32_t crc32(const uint8_t *bytes, unsigned count) {
  uint32_t crc = ~0u;
  while (count--) {
    crc ^= *bytes++;
    for (int i = 0; i < 8; i++)
      crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
  }
  return ~crc;
}

__attribute__((noinline)) static uint32_t ackermann(uint32_t m, uint32_t n) {
  if (m == 0)
    return n + 1;
  if (n == 0)
    return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

static void sort(int16_t *values, int count) { // shell sort
  for (int gap = count / 2; gap > 0; gap /= 2)
    for (int i = gap; i < count; i++) {
      int16_t value = values[i];
      int j = i;
      for (; j >= gap && values[j - gap] > value; j -= gap)
        values[j] = values[j - gap];
      values[j] = value;
    }
}

static uint32_t state = 2463534242u; // Marsaglia's xorshift32

static uint32_t draw(void) {
  state ^= state << 13;
  state ^= state >> 17;
  return state ^= state << 5;
}

typedef struct {
  int32_t re;
  uint8_t tag;
  int16_t im;
} Complex;

__attribute__((noinline)) static Complex times(Complex a, Complex b) {
  Complex c = {a.re * b.re - a.im * b.im, (uint8_t)(a.tag + b.tag), (int16_t)(a.re * b.im + a.im * b.re)};
  return c;
}

static int32_t add(int32_t a, int32_t b) { return a + b; }
static int32_t sub(int32_t a, int32_t b) { return a - b; }
static int32_t mul(int32_t a, int32_t b) { return a * b; }
static int32_t divide(int32_t a, int32_t b) { return b ? a / b : -1; }
static int32_t (*volatile operations[])(int32_t, int32_t) = {add, sub, mul, divide};

// a stack machine: digits push, letters pop two
__attribute__((noinline)) static int32_t evaluate(const char *text) {
  int32_t stack[16];
  int top = 0;
  for (; *text; text++) {
    switch (*text) {
    case 'a': case 'b': case 'c': case 'd':
      top--;
      stack[top - 1] = operations[*text - 'a'](stack[top - 1], stack[top]);
      break;
    case 'n': stack[top - 1] = -stack[top - 1]; break;
    case 's': stack[top - 1] *= stack[top - 1]; break;
    case 'x': stack[top - 1] ^= 0x5555; break;
    case 'l': stack[top - 1] <<= 3; break;
    case 'r': stack[top - 1] >>= 2; break;
    default: stack[top++] = *text - '0';
    }
  }
  return stack[0];
}

static uint64_t gcd(uint64_t a, uint64_t b) { return b ? gcd(b, a % b) : a; }

int main(void) {
  static const uint8_t digits[] = "123456789";
  emit(crc32(digits, 9));
  emit(ackermann(2, 6));

  int16_t values[50];
  for (int i = 0; i < 50; i++)
    values[i] = (int16_t)draw();
  sort(values, 50);
  uint32_t ordered = 1;
  for (int i = 1; i < 50; i++)
    ordered &= values[i - 1] <= values[i];
  emit(ordered);
  emit(crc32((const uint8_t *)values, sizeof values));

  Complex z = {3, 1, -2};
  for (int i = 0; i < 5; i++)
    z = times(z, (Complex){2, 7, 1});
  emit((uint32_t)z.re);
  emit((uint32_t)z.im);
  emit(z.tag);

  emit((uint32_t)evaluate("92a3b4cn9d"));
  emit((uint32_t)evaluate("7s5sc9lrxna"));

  uint64_t product = 1;
  for (unsigned i = 0; i < 20; i++) {
    product *= draw() | 1;
    product += draw();
  }
  emit((uint32_t)product);
  emit((uint32_t)(product >> 32));
  emit((uint32_t)(product % 1000000007u));
  emit((uint32_t)((int64_t)-product / 12345));
  emit((uint32_t)gcd(1ull << 40, 6227020800u));

  uint32_t sums[4] = {0, 0, 0, 0};
  for (int i = 0; i < 100; i++) {
    int32_t a = (int32_t)draw(), b = (int32_t)draw() >> (i % 31);
    sums[0] += (uint32_t)(b ? a / (b == -1 ? 1 : b) : 0);
    sums[1] ^= (uint32_t)(b ? a % (b == -1 ? 1 : b) : 0);
    sums[2] += (uint32_t)((int64_t)a * b >> 32);
    sums[3] ^= (uint32_t)a / ((uint32_t)b | 1) + (uint32_t)((uint64_t)(uint32_t)a * (uint32_t)b >> 32);
  }
  emit_words(sums, 4);
  return 0;
}
