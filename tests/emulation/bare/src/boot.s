# From the BIOS to `main`: 16-bit code in the boot sector, then 64-bit code at the start of the image.
#
# Memory below 1 MiB: 0x1000 page tables, 0x7c00 this sector (its stack below it), 0x10000 the buffer for disk reads.

.set PAGE_TABLES, 0x1000
.set BUFFER, 0x10000

.section .boot, "awx"
.code16
.globl boot
boot:
    cli
    cld
    xorw %ax, %ax
    movw %ax, %ds
    movw %ax, %es
    movw %ax, %ss
    movw $0x7c00, %sp
    ljmp $0, $canonical
canonical:
    movb %dl, drive
    # Address line 20, or every odd mebibyte would be the even one below it.
    inb $0x92, %al
    orb $2, %al
    outb %al, $0x92
    movl $image_start, %edi
    movl $image_chunks, %ebp

read_chunk:
    pushl %edi
    pushl %ebp
    movw $packet, %si
    movb drive, %dl
    movb $0x42, %ah
    int $0x13
    popl %ebp
    popl %edi
    jc failed
    # The BIOS reads below 1 MiB only. Segments that were loaded in protected mode keep their limit of 4 GiB in real
    # mode, so that the copy can write above. It is set up anew each time, because the BIOS may change it.
    lgdt descriptors_pointer
    movl %cr0, %eax
    orb $1, %al
    movl %eax, %cr0
    movw $(data_descriptor - descriptors), %bx
    movw %bx, %ds
    movw %bx, %es
    andb $0xfe, %al
    movl %eax, %cr0
    xorw %bx, %bx
    movw %bx, %ds
    movw %bx, %es
    movl $BUFFER, %esi
    movl $chunk_len, %ecx
    shrl $2, %ecx
    # The prefix for 32-bit addresses, as bytes: LLVM takes `addr32` in 64-bit code only.
    .byte 0x67
    rep movsl
    addl $64, packet_sector
    decl %ebp
    jnz read_chunk

    # The first GiB, mapped to itself in pages of 2 MiB.
    movl $PAGE_TABLES, %edi
    movl $(3 * 4096 / 4), %ecx
    xorl %eax, %eax
    rep stosl
    movl $(PAGE_TABLES + 0x1003), PAGE_TABLES
    movl $(PAGE_TABLES + 0x2003), PAGE_TABLES + 0x1000
    movw $(PAGE_TABLES + 0x2000), %di
    movw $512, %cx
    movl $0x83, %eax
map_page:
    movl %eax, (%di)
    addl $0x200000, %eax
    addw $8, %di
    loop map_page

    # CR4: physical address extension, SSE and its exceptions. EFER: long mode. CR0: paging and protection, a
    # coprocessor that is there.
    movl $0x620, %eax
    movl %eax, %cr4
    movl $PAGE_TABLES, %eax
    movl %eax, %cr3
    movl $0xc0000080, %ecx
    rdmsr
    orl $0x100, %eax
    wrmsr
    movl %cr0, %eax
    andl $0xfffffff3, %eax
    orl $0x80000003, %eax
    movl %eax, %cr0
    ljmpl $(code_descriptor - descriptors), $start

# The disk could not be read: say so by a letter on the serial line, and stop.
failed:
    movw $0x3f8, %dx
    movb $0x21, %al
    outb %al, %dx
halt:
    hlt
    jmp halt

.balign 8
descriptors:
    .quad 0
code_descriptor: # 64-bit code
    .quad 0x00af9a000000ffff
data_descriptor: # data, 4 GiB
    .quad 0x00cf92000000ffff
descriptors_end:
descriptors_pointer:
    .word descriptors_end - descriptors - 1
    .long descriptors

# What to read: 64 sectors, that is a chunk, from the one with this number.
packet:
    .byte 16, 0
    .word 64
    .word 0, BUFFER >> 4
packet_sector:
    .quad 1
drive:
    .byte 0

# What tells the BIOS that this is a boot sector.
.org boot + 510
    .word 0xaa55

.section .start, "ax"
.code64
start:
    xorl %eax, %eax
    movw %ax, %ds
    movw %ax, %es
    movw %ax, %ss
    movq $stack_top, %rsp
    movq $bss_start, %rdi
    movq $bss_end, %rcx
    subq %rdi, %rcx
    rep stosb
    # What an operating system does for vectors: every part of the state that the processor has, of x87, SSE, AVX and
    # AVX-512, is switched on. Without XSAVE there is nothing but SSE.
    movl $1, %eax
    cpuid
    btl $26, %ecx
    jnc no_xsave
    movq %cr4, %rax
    btsq $18, %rax
    movq %rax, %cr4
    movl $0xd, %eax
    xorl %ecx, %ecx
    cpuid
    andl $0xe7, %eax
    xorl %edx, %edx
    xorl %ecx, %ecx
    xsetbv
no_xsave:
    call main
    ud2
