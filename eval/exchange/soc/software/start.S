# Reset code at address 0 and trap entry, for VexRiscv (RISC-V's machine mode) and, with -DPICORV32, for PicoRV32, which has its own
# interrupt instructions (opcode custom-0, funct7 as below) and registers: q0 is the return address, q1 the pending interrupts.

#define REGISTERS_SAVED 16

    .section .text.start, "ax"
    .globl _start
_start:
    j       begin
    .org    0x10 # trap vector of PicoRV32
trap:
    addi    sp, sp, -4 * REGISTERS_SAVED
    sw      ra, 0(sp)
    sw      t0, 4(sp)
    sw      t1, 8(sp)
    sw      t2, 12(sp)
    sw      a0, 16(sp)
    sw      a1, 20(sp)
    sw      a2, 24(sp)
    sw      a3, 28(sp)
    sw      a4, 32(sp)
    sw      a5, 36(sp)
    sw      a6, 40(sp)
    sw      a7, 44(sp)
    sw      t3, 48(sp)
    sw      t4, 52(sp)
    sw      t5, 56(sp)
    sw      t6, 60(sp)
#ifdef PICORV32
    .insn r 0x0B, 4, 0, a0, x1, x0 # getq a0, q1
    call    on_interrupt
#else
    csrr    a0, mcause
    csrr    a1, mepc
    call    on_trap
    csrw    mepc, a0
#endif
    lw      ra, 0(sp)
    lw      t0, 4(sp)
    lw      t1, 8(sp)
    lw      t2, 12(sp)
    lw      a0, 16(sp)
    lw      a1, 20(sp)
    lw      a2, 24(sp)
    lw      a3, 28(sp)
    lw      a4, 32(sp)
    lw      a5, 36(sp)
    lw      a6, 40(sp)
    lw      a7, 44(sp)
    lw      t3, 48(sp)
    lw      t4, 52(sp)
    lw      t5, 56(sp)
    lw      t6, 60(sp)
    addi    sp, sp, 4 * REGISTERS_SAVED
#ifdef PICORV32
    .insn r 0x0B, 0, 2, x0, x0, x0 # retirq
#else
    mret
#endif

begin:
    la      sp, _stack_top
#ifdef PICORV32
    li      t0, -1
    .insn r 0x0B, 6, 3, x0, t0, x0 # maskirq: mask all
#else
    la      t0, trap
    csrw    mtvec, t0
#endif
    la      t0, __data_start
    la      t1, __data_end
    la      t2, __data_rom
    bgeu    t0, t1, 2f
1:  lw      t3, 0(t2)
    sw      t3, 0(t0)
    addi    t0, t0, 4
    addi    t2, t2, 4
    bltu    t0, t1, 1b
2:  la      t0, __bss_start
    la      t1, __bss_end
    bgeu    t0, t1, 4f
3:  sw      zero, 0(t0)
    addi    t0, t0, 4
    bltu    t0, t1, 3b
4:  call    main
    call    finish
