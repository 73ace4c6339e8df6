# SPDX-License-Identifier: Apache-2.0
"""A writer of DICOM segmentations (PS3.3, A.51 and C.8.20) that shares nothing with the library, nor with GDCM."""
import struct

from support.dicom import EXPLICIT, IMPLICIT, RLE, element

SEGMENTATION, LABEL_MAP = "1.2.840.10008.5.1.4.1.1.66.4", "1.2.840.10008.5.1.4.1.1.66.7"


def packed(bits):
    """Bits without gaps between frames, the first one the lowest of its byte."""
    data = bytearray((len(bits) + 7) // 8)
    for i, bit in enumerate(bits):
        data[i // 8] |= bool(bit) << i % 8
    return bytes(data)


def run_length_frames(frames):
    """Encapsulated pixels of a byte: an empty table of offsets, and a fragment of RLE for each frame."""
    parts = [struct.pack("<2HI", 0xfffe, 0xe000, 0)]
    for frame in frames:
        segment = b"".join(bytes((len(frame[i:i + 128]) - 1,)) + bytes(frame[i:i + 128]) for i in range(0, len(frame), 128))
        data = struct.pack("<16I", 1, 64, *[0] * 14) + segment
        data += b"\0" * (len(data) % 2)
        parts.append(struct.pack("<2HI", 0xfffe, 0xe000, len(data)) + data)
    return (struct.pack("<2H2sHI", 0x7fe0, 0x0010, b"OB", 0, 0xffffffff) + b"".join(parts) +
            struct.pack("<2HI", 0xfffe, 0xe0dd, 0))


def segmentation(frames, columns, segments, *, along=((1, 0, 0), (0, 1, 0)), spacing=(1, 1), distance=1,
                 kind="BINARY", most=255, bits=None, syntax=EXPLICIT, defined=True, per_frame=False, padding=None,
                 count=None, series="1.2.66", drop=0, described=None):
    """The bytes of a file. `frames` are (segment, position, pixels); `segments` (number, label, meaning); `spacing` is
    that of columns, along a row, and that of rows. Sequences have a length, or an end where `defined` is false;
    orientation and spacing stand in each frame where `per_frame` is true. `drop` bytes of pixels are left out."""
    implicit = syntax == IMPLICIT

    def one(group, number, vr, value):
        return element(group, number, vr, value, implicit)

    def items(group, number, bodies):
        mark = 0xffffffff
        text = b"".join(struct.pack("<2HI", 0xfffe, 0xe000, len(body) if defined else mark) + body +
                        (b"" if defined else struct.pack("<2HI", 0xfffe, 0xe00d, 0)) for body in bodies)
        if not defined:
            text += struct.pack("<2HI", 0xfffe, 0xe0dd, 0)
        head = struct.pack("<2H", group, number)
        size = len(text) if defined else mark
        return head + (struct.pack("<I", size) if implicit else b"SQ" + struct.pack("<HI", 0, size)) + text

    def code(group, number, meaning):
        return items(group, number, [one(0x0008, 0x0100, "SH", "12345") + one(0x0008, 0x0102, "SH", "SCT") +
                                     one(0x0008, 0x0104, "LO", meaning)])

    def decimals(values):
        return [f"{v:.12g}" for v in values]

    of = LABEL_MAP if kind == "LABELMAP" else SEGMENTATION
    bits = bits or {"BINARY": 1, "FRACTIONAL": 8, "LABELMAP": 8}[kind]
    rows = len(frames[0][2]) // columns
    alike = (items(0x0020, 0x9116, [one(0x0020, 0x0037, "DS", decimals((*along[0], *along[1])))]) +
             items(0x0028, 0x9110, [(one(0x0018, 0x0088, "DS", decimals([distance])) if distance else b"") +
                                    one(0x0028, 0x0030, "DS", decimals((spacing[1], spacing[0])))]))
    bodies = []
    for segment, position, _ in frames:
        body = items(0x0020, 0x9113, [one(0x0020, 0x0032, "DS", decimals(position))] if position else [])
        if per_frame:
            body += alike
        if segment:
            body += items(0x0062, 0x000a, [one(0x0062, 0x000b, "US", segment)])
        bodies.append(body)
    pixels = [p for frame in frames for p in frame[2]]
    if bits == 1:
        data = packed(pixels)
    else:
        data = struct.pack(f"<{len(pixels)}{'B' if bits == 8 else 'H'}", *pixels)
    data = data[:len(data) - drop]
    data += b"\0" * (len(data) % 2)
    body = (one(0x0008, 0x0016, "UI", of) + one(0x0008, 0x0018, "UI", "1.2.3.66") + one(0x0008, 0x0060, "CS", "SEG") +
            one(0x0020, 0x000e, "UI", series) + one(0x0028, 0x0002, "US", 1) +
            one(0x0028, 0x0004, "CS", "MONOCHROME2") + one(0x0028, 0x0008, "IS", str(count or len(frames))) +
            one(0x0028, 0x0010, "US", rows) + one(0x0028, 0x0011, "US", columns) + one(0x0028, 0x0100, "US", bits) +
            one(0x0028, 0x0101, "US", bits) + one(0x0028, 0x0102, "US", bits - 1) + one(0x0028, 0x0103, "US", 0) +
            (one(0x0028, 0x0120, "US", padding) if padding is not None else b"") + one(0x0062, 0x0001, "CS", kind) +
            items(0x0062, 0x0002, [one(0x0062, 0x0004, "US", number) + one(0x0062, 0x0005, "LO", label) +
                                   code(0x0062, 0x000f, meaning) for number, label, meaning in segments]) +
            (one(0x0062, 0x000e, "US", most) if kind == "FRACTIONAL" else b"") +
            items(0x5200, 0x9229, [b"" if per_frame else alike]) + items(0x5200, 0x9230, bodies[:described]) +
            (run_length_frames([frame[2] for frame in frames]) if syntax == RLE else one(0x7fe0, 0x0010, "OW", data)))
    meta = (element(0x0002, 0x0001, "OB", b"\0\1") + element(0x0002, 0x0002, "UI", of) +
            element(0x0002, 0x0003, "UI", "1.2.3.66") + element(0x0002, 0x0010, "UI", syntax))
    return b"\0" * 128 + b"DICM" + element(0x0002, 0x0000, "UL", struct.pack("<I", len(meta))) + meta + body
