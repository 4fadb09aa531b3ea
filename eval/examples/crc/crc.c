// The CRC of a message by a program on the processor: modexlab proc crc.c --accelerator .

#include "crc.h"

int main(void) {
  static const char message[] = "123456789";
  uint32_t crc = 0;
  for (unsigned i = 0; message[i]; i++)
    crc = crc_call(i == 0, message[i]);
  return crc != 0xCBF43926;
}
