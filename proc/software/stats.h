// The stats window: only cycles between stats_on() and stats_off() count as the kernel's.

#ifndef STATS_H
#define STATS_H

#ifdef QEMU // which has no such CSR
#define STATS_ON ""
#define STATS_OFF ""
#else
#define STATS_ON "csrwi 0x7C1, 1\n\t"
#define STATS_OFF "csrwi 0x7C1, 0\n\t"
#endif

static inline void stats_on(void) { __asm__ volatile(STATS_ON ::: "memory"); }

static inline void stats_off(void) { __asm__ volatile(STATS_OFF ::: "memory"); }

#endif
