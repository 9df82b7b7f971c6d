"""Summaries of tensors as tests/onnx/summary.hpp computes them: the norm, and sums with four fixed lists of signs.

The signs are bits of Philox4x32-10, the counter-based generator of isobar/base/random.hpp.
"""
import numpy as np

MASK = 0xFFFFFFFFFFFFFFFF
PROJECTIONS = 4


def mix(a, b):
    """splitmix64, as isobar's mix()."""
    z = (a + 0x9E3779B97F4A7C15 * (b + 1)) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def first_words(seed, count):
    """The first word of blocks 0 ... count - 1 of Random(seed)."""
    low32, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    index = np.arange(count, dtype=np.uint64)
    c = [index & low32, index >> shift, np.zeros_like(index), np.zeros_like(index)]
    key = mix(seed, 0)
    k = [key & 0xFFFFFFFF, key >> 32]
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(b >> shift) ^ c[1] ^ np.uint64(k[0]), b & low32, (a >> shift) ^ c[3] ^ np.uint64(k[1]), a & low32]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c[0]


def summary(values):
    values = np.asarray(values, dtype=np.float64).reshape(-1)
    bits = first_words(2024, values.size)
    signs = [1.0 - 2.0 * ((bits >> np.uint64(k)) & np.uint64(1)).astype(np.float64) for k in range(PROJECTIONS)]
    return [float(np.sqrt((values * values).sum()))] + [float((s * values).sum()) for s in signs]
