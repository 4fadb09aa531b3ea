"""CRC: the CRC-32 of a message that arrives byte by byte. State persists between requests."""

import zlib

from modexlab import Accelerator, Row, Shape

from .rtl import CRCRTL

CHECK = b"123456789"  # the check message of every CRC catalogue, with the CRC 0xCBF43926


class CRC(Accelerator):
    name = "crc"
    summary = "the CRC-32 of a message, a byte a request"
    usual_nbits = 32

    @property
    def shape(self):
        return Shape((("first", 1), ("data", 8)), (("crc", 32),))

    def fl(self, first, data):
        """The CRC of a message of one byte."""
        return zlib.crc32(bytes([data]))

    def model(self):
        """A function with state: the CRC of all bytes since the last one with `first` set."""
        message = bytearray()

        def crc(first, data):
            if first:
                message.clear()
            message.append(data)
            return zlib.crc32(message)

        return crc

    def cycles(self, first, data):
        return 9  # one bit per cycle

    def rtl(self):
        return CRCRTL()

    def rows(self):
        message = [(index == 0, byte) for index, byte in enumerate(CHECK)]
        return [
            Row("a byte without a first one", (0, 0xA5)),
            *(
                Row(f"check, byte {index}", request, index % 3, index % 2)
                for index, request in enumerate(message)
            ),
            Row("all ones", (1, 0xFF)),
            Row("zero after ones", (0, 0)),
            *(row for row in super().rows() if row.name.startswith("drawn")),
        ]

    def workloads(self):
        return {"message": [(index == 0, byte) for index, byte in enumerate(CHECK)]}
