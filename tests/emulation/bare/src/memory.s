# What the compiler expects of a C library: the four functions on bytes, in the calling convention of System V.

.text
# `core` was compiled to unwind and names this function; where a panic aborts, nothing calls it.
.globl rust_eh_personality
rust_eh_personality:
    ud2

.globl memcpy, memmove, memset, memcmp, bcmp

# rdi: destination, rsi: source, rdx: count.
memmove:
    movq %rdi, %rax
    subq %rsi, %rax
    cmpq %rdx, %rax
    # The destination starts within the source: from the end downwards.
    jb backwards
memcpy:
    movq %rdi, %rax
    movq %rdx, %rcx
    rep movsb
    ret
backwards:
    movq %rdi, %rax
    movq %rdx, %rcx
    leaq -1(%rsi,%rdx), %rsi
    leaq -1(%rdi,%rdx), %rdi
    std
    rep movsb
    cld
    ret

# rdi: destination, esi: byte, rdx: count.
memset:
    movq %rdi, %r8
    movl %esi, %eax
    movq %rdx, %rcx
    rep stosb
    movq %r8, %rax
    ret

# rdi, rsi: what to compare, rdx: count.
memcmp:
bcmp:
    # Also says "equal" in the flags, for a count of 0.
    xorl %eax, %eax
    movq %rdx, %rcx
    repe cmpsb
    je equal
    movzbl -1(%rdi), %eax
    movzbl -1(%rsi), %ecx
    subl %ecx, %eax
equal:
    ret
