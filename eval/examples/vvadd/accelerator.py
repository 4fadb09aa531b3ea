"""VVAdd: adds two vectors in memory."""

from modexlab import Accelerator, MemoryPort, OnMemory, Row, Shape

from .rtl import VVAddRTL

MASK = (1 << 32) - 1
A, B, TOTAL = 0x1000, 0x2000, 0x3000  # where tests keep their vectors


class VVAdd(Accelerator):
    name = "vvadd"
    summary = "the sum of two vectors of 32-bit words in memory"

    @property
    def shape(self):
        return Shape(
            (("a", 32), ("b", 32), ("total", 32), ("n", 16)),
            (("count", 16),),
            memory=(MemoryPort("mem"),),
            pointers=("a", "b", "total"),
        )

    def fl(self, a, b, total, n, memory):
        for offset in range(0, 4 * n, 4):
            memory.write(total + offset, memory.read(a + offset) + memory.read(b + offset))
        return n

    def steps(self, a, b, total, n, memory):
        for offset in range(0, 4 * n, 4):
            x = yield from memory.read(a + offset)
            y = yield from memory.read(b + offset)
            yield from memory.write(total + offset, x + y)
        return n

    def cycles(self, a, b, total, n):
        return 6 * n + 1

    def rtl(self):
        return VVAddRTL()

    def drawn(self, generator):
        n = generator.randrange(20)
        x, y = ([generator.getrandbits(32) for _ in range(n)] for _ in range(2))
        return OnMemory((A, B, TOTAL, n), {A: x, B: y})

    def rows(self):
        ones = [MASK] * 3
        return [
            Row("no element", (A, B, TOTAL, 0)),
            Row("one element", (A, B, TOTAL, 1), memory={A: [5], B: [7]}),
            Row("largest numbers", (A, B, TOTAL, 3), memory={A: ones, B: ones}),
            Row("in place", (A, B, A, 3), memory={A: [1, 2, 3], B: [10, 20, 30]}),
            Row("memory of the previous row", (A, B, TOTAL, 3)),
            Row("slow memory", (A, B, TOTAL, 2), memory={A: [1, 2], B: [3, 4]}, memory_delay=7),
            *super().rows(),
        ]

    def workloads(self):
        x, y = range(100), range(0, 200, 2)
        return {"hundred": [OnMemory((A, B, TOTAL, 100), {A: list(x), B: list(y)})]}
