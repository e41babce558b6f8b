"""What fully connected int8 layers and MLPerf Tiny's networks cost with CMSIS-NN: instructions, requantisation
included, between the same marks; of networks the sums of their layers.

CMSIS-NN at commit 99f736a, arm_fully_connected_s8, -O3, by gcc 12.2 and by clang 19; for each core the better of the
two, which is gcc but for the M55. It was not measured on the M3, where it runs the plain C
of the M0+, and the M7 runs what the M4 runs. On the M55 it reads sums of the weights
that were computed before, as it wants. Kept as numbers, because measuring them takes its sources and another compiler.
"""

CORES = {"cortex-m0plus": 0, "cortex-m4": 1, "cortex-m7": 1, "cortex-m33": 2, "cortex-m55": 3}
CMSIS_NN = {
    (784, 128): (617_830, 194_603, 194_599, 17_250),
    (768, 256): (1_205_952, 381_395, 381_407, 33_730),
    (256, 32): (53_524, 17_078, 17_080, 1_770),
    (128, 10): (9_189, 3_035, 3_038, 526),
    (32, 32): (9_637, 3_639, 3_643, 650),
    (32, 1): (546, 228, 229, 156),
    (16, 1): (418, 188, 191, 152),
}


def cmsis_nn(board, shape):
    """Its count on a board's core, or None."""
    if board not in CORES or shape not in CMSIS_NN:
        return None
    return CMSIS_NN[shape][CORES[board]]


# The networks as they are, VWW with its channels that are always 0; on the M55 by clang 19, which suits it better.
CMSIS_NN_NETWORKS = {
    "kws": (28_985_970, 7_844_910, 7_800_674, 1_752_591),
    "ic": (97_563_384, 29_861_301, 29_905_498, 4_571_968),
    "vww": (86_807_320, 24_709_353, 24_530_939, 6_252_611),
    "ad": (1_754_499, 579_057, 578_939, 61_550),
}


def cmsis_nn_network(board, network):
    """The sum of its layers on a board's core, or None."""
    if board not in CORES or network not in CMSIS_NN_NETWORKS:
        return None
    return CMSIS_NN_NETWORKS[network][CORES[board]]
