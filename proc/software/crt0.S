# Start of every program: global pointer, stack, zeroed .bss, main, exit with what it returns. The last is Linux's
# exit call (a7 = 93, a0 = code), on which the bare machine halts and which qemu-riscv32 understands too.
# _start is weak: an assembly program that brings its own takes the place of this one.
# -DQEMU: the operating system has set up a stack, ours would not be mapped.

    .section .text.start, "ax"
    .weak _start
_start:
    .option push
    .option norelax
    la      gp, __global_pointer$
    .option pop
#ifndef QEMU
    la      sp, _stack_top
#endif
    la      t0, __bss_start
    la      t1, __bss_end
    bgeu    t0, t1, 2f
1:  sw      zero, 0(t0)
    addi    t0, t0, 4
    bltu    t0, t1, 1b
2:  call    main
    li      a7, 93
    ecall
