// The four functions that GCC may call in any freestanding program; weak, so that a program can define its own.

#include <stddef.h>
#include <stdint.h>

#define WEAK __attribute__((weak))

typedef uint32_t __attribute__((may_alias)) word_t;

static inline void copy_upward(unsigned char *to, const unsigned char *from, size_t size) {
  if ((((uintptr_t)to | (uintptr_t)from) & 3) == 0)
    for (; size >= 4; size -= 4, to += 4, from += 4)
      *(word_t *)to = *(const word_t *)from;
  while (size--)
    *to++ = *from++;
}

WEAK void *memcpy(void *restrict to, const void *restrict from, size_t size) {
  copy_upward(to, from, size);
  return to;
}

WEAK void *memmove(void *to, const void *from, size_t size) {
  unsigned char *t = to;
  const unsigned char *f = from;
  if (t <= f)
    copy_upward(t, f, size);
  else
    while (size--)
      t[size] = f[size];
  return to;
}

WEAK void *memset(void *to, int value, size_t size) {
  unsigned char *t = to;
  if (((uintptr_t)t & 3) == 0)
    for (; size >= 4; size -= 4, t += 4)
      *(word_t *)t = 0x01010101u * (unsigned char)value;
  while (size--)
    *t++ = (unsigned char)value;
  return to;
}

WEAK int memcmp(const void *a, const void *b, size_t size) {
  const unsigned char *x = a, *y = b;
  for (; size--; x++, y++)
    if (*x != *y)
      return *x < *y ? -1 : 1;
  return 0;
}
