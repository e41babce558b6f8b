/* The bytes of a network at a multiple of 64, among the constants of the program; for gcc and clang on ELF systems.
   NET_PATH comes from the command line: -DNET_PATH='"quantised.bin"'. */
    .section .rodata
    .balign 64
    .globl embedded_net
    .type embedded_net, %object
embedded_net:
    .incbin NET_PATH
    .globl embedded_net_end
embedded_net_end:
    .size embedded_net, . - embedded_net
    .section .note.GNU-stack, "", %progbits
