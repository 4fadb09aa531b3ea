// A start-up in the manner of the RISC-V community's test programs, written from what is known of their convention: all registers
// cleared, CSRs that may not exist written with the trap vector just behind the write, mret into the test. A test ends by
// ecall with its number in gp (1: all passed), and the trap vector stores that to tohost, for ever.

    .section .text.init, "ax"
    .globl _start
_start:
    j       reset
    .align  2
trap_vector:
    csrr    t5, mcause
    li      t6, 11 // ecall
    beq     t5, t6, write_tohost
    li      t6, 8
    beq     t5, t6, write_tohost
    la      t5, own_handler
    beqz    t5, 1f
    jr      t5
1:  ori     gp, gp, 1337 // something that no test expects
write_tohost:
    sw      gp, tohost, t5
    sw      zero, tohost + 4, t5
    j       write_tohost

reset:
    .irp    i, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    li      x\i, 0
    .endr
    csrr    a0, mhartid
1:  bnez    a0, 1b
    // one register after the other that this machine need not have: an illegal instruction goes on behind it
    .macro  maybe number, value
    la      t0, 2f
    csrw    mtvec, t0
    li      t1, \value
    csrw    \number, t1
    .align  2
2:
    .endm
    maybe   0x744, 8 // mnstatus
    maybe   0x180, 0 // satp
    maybe   0x3B0, -1 // pmpaddr0
    maybe   0x3A0, 0x1F // pmpcfg0
    maybe   0x302, 0 // medeleg
    maybe   0x303, 0 // mideleg
    csrwi   mie, 0
    la      t0, trap_vector
    csrw    mtvec, t0
    li      t0, 1
    slli    t0, t0, 31
    bltz    t0, 1f // or else registers are not of 32 bits
    fence
    j       fail
1:  csrwi   mstatus, 0
    la      t0, test
    csrw    mepc, t0
    csrr    a0, mhartid
    mret

    .weak   own_handler

    .globl  pass, fail
pass:
    fence
    li      gp, 1
    li      a7, 93
    li      a0, 0
    ecall
fail:
    fence
1:  beqz    gp, 1b
    slli    gp, gp, 1
    ori     gp, gp, 1
    li      a7, 93
    mv      a0, gp
    ecall

    .section .tohost, "aw", @progbits
    .align  6
    .globl  tohost, fromhost
tohost:   .dword 0
    .align  6
fromhost: .dword 0
