# SPDX-License-Identifier: Apache-2.0
"""XXH64 as its specification has it, to compare with: shares nothing with the library's header.

github.com/Cyan4973/xxHash, doc/xxhash_spec.md
"""
P1, P2, P3, P4, P5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9,
                      0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
MASK = 2**64 - 1


def rotate(x, bits):
    return ((x << bits) | (x >> (64 - bits))) & MASK


def mix(lane, word):
    return rotate((lane + word * P2) & MASK, 31) * P1 & MASK


def xxh64(data, seed=0):
    """16 hexadecimal digits."""
    place = 0
    if len(data) >= 32:
        lanes = [(seed + P1 + P2) & MASK, (seed + P2) & MASK, seed, (seed - P1) & MASK]
        while place + 32 <= len(data):
            for i in range(4):
                word = int.from_bytes(data[place + 8 * i:place + 8 * i + 8], "little")
                lanes[i] = mix(lanes[i], word)
            place += 32
        total = sum(rotate(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            total = ((total ^ mix(0, lane)) * P1 + P4) & MASK
    else:
        total = (seed + P5) & MASK
    total = (total + len(data)) & MASK
    while place + 8 <= len(data):
        total ^= mix(0, int.from_bytes(data[place:place + 8], "little"))
        total = (rotate(total, 27) * P1 + P4) & MASK
        place += 8
    if place + 4 <= len(data):
        total ^= int.from_bytes(data[place:place + 4], "little") * P1 & MASK
        total = (rotate(total, 23) * P2 + P3) & MASK
        place += 4
    for byte in data[place:]:
        total = rotate(total ^ (byte * P5 & MASK), 11) * P1 & MASK
    total = (total ^ total >> 33) * P2 & MASK
    total = (total ^ total >> 29) * P3 & MASK
    return f"{total ^ total >> 32:016x}"
