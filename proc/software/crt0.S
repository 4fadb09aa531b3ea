# Start of every program: set global pointer and stack, clear .bss, call main, and exit with its return value. The exit
# is Linux's system call (a7 = 93, a0 = code), at which the bare machine halts and which qemu-riscv32 also supports.
# _start is weak: an assembly program can replace it by its own.
# -DQEMU: the operating system has set up a stack; ours would not be mapped.

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
