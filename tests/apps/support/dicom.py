# SPDX-License-Identifier: Apache-2.0
"""A writer of DICOM slices (PS3.5, PS3.10) that shares nothing with the library, nor with GDCM."""
import struct

EXPLICIT, IMPLICIT, RLE = "1.2.840.10008.1.2.1", "1.2.840.10008.1.2", "1.2.840.10008.1.2.5"
JPEG_2000 = "1.2.840.10008.1.2.4.90"
CT, REPORT = "1.2.840.10008.5.1.4.1.1.2", "1.2.840.10008.5.1.4.1.1.88.67"
LONG = ("OB", "OW", "SQ", "UN")  # of a length of four bytes


def element(group, number, kind, value, implicit=False):
    if isinstance(value, (tuple, list)):
        value = "\\".join(str(v) for v in value)
    if isinstance(value, str):
        value = value.encode()
        value += (b"\0" if kind == "UI" else b" ") * (len(value) % 2)
    elif isinstance(value, int):
        value = struct.pack("<H", value)
    head = struct.pack("<2H", group, number)
    if implicit:
        return head + struct.pack("<I", len(value)) + value
    if kind in LONG:
        return head + kind.encode() + struct.pack("<HI", 0, len(value)) + value
    return head + kind.encode() + struct.pack("<H", len(value)) + value


def encapsulated(fragment):
    """Pixels that are compressed: an empty table of offsets, and one fragment."""
    fragment += b"\0" * (len(fragment) % 2)
    return (struct.pack("<2H2sHI", 0x7fe0, 0x0010, b"OB", 0, 0xffffffff) +
            struct.pack("<2HI", 0xfffe, 0xe000, 0) +
            struct.pack("<2HI", 0xfffe, 0xe000, len(fragment)) + fragment +
            struct.pack("<2HI", 0xfffe, 0xe0dd, 0))


def run_lengths(stored):
    """RLE of samples of 16 bits: their high bytes and their low ones, in literal runs and repeated ones."""
    segments = []
    for plane in stored[1::2], stored[0::2]:
        segment, at = b"", 0
        while at < len(plane):
            run = 1
            while at + run < len(plane) and run < 128 and plane[at + run] == plane[at]:
                run += 1
            if run > 2:
                segment += bytes((257 - run, plane[at]))
                at += run
            else:
                part = plane[at:at + 2]
                segment += bytes((len(part) - 1,)) + part
                at += len(part)
        segments.append(segment + b"\0" * (len(segment) % 2))
    places = [64, 64 + len(segments[0])]
    return struct.pack("<16I", 2, *places, *([0] * 13)) + b"".join(segments)


def dicom_slice(pixels, columns, position, *, rows_along=(1, 0, 0), columns_along=(0, 1, 0), spacing=(1, 1),
                series="1.2.3", syntax=EXPLICIT, bits=16, stored=None, signed=True, slope=1, intercept=0,
                samples=1, photometric="MONOCHROME2", frames=None, kind=("ORIGINAL", "PRIMARY", "AXIAL"),
                description="", unit="HU", number="4", place=True, rescaled=True, image=True, of=CT, more=b""):
    """The bytes of a file. `spacing` is that of columns, along a row, and that of rows; `stored` bits of `bits`
    are used."""
    implicit = syntax == IMPLICIT
    rows = len(pixels) // columns // samples

    def text(group, place, vr, value):
        return element(group, place, vr, value, implicit) if value not in (None, "") else b""

    letter = {8: "bB", 16: "hH", 32: "iI"}[bits][0 if signed else 1]
    data = struct.pack(f"<{len(pixels)}{letter}", *pixels)
    data += b"\0" * (len(data) % 2)
    body = (text(0x0008, 0x0008, "CS", kind) + text(0x0008, 0x0016, "UI", of) +
            text(0x0008, 0x0018, "UI", "1.2.3.4") + text(0x0008, 0x0060, "CS", "CT") +
            text(0x0008, 0x103e, "LO", description) + text(0x0020, 0x000e, "UI", series) +
            text(0x0020, 0x0011, "IS", number))
    if place:
        body += (text(0x0020, 0x0032, "DS", [repr(float(p)) for p in position]) +
                 text(0x0020, 0x0037, "DS", [f"{a:.12g}" for a in (*rows_along, *columns_along)]))
    if image:
        body += (text(0x0028, 0x0002, "US", samples) + text(0x0028, 0x0004, "CS", photometric) +
                 text(0x0028, 0x0008, "IS", frames and str(frames)) + text(0x0028, 0x0010, "US", rows) +
                 text(0x0028, 0x0011, "US", columns) +
                 (text(0x0028, 0x0030, "DS", (spacing[1], spacing[0])) if place else b"") +
                 element(0x0028, 0x0100, "US", bits, implicit) +
                 element(0x0028, 0x0101, "US", stored or bits, implicit) +
                 element(0x0028, 0x0102, "US", (stored or bits) - 1, implicit) +
                 element(0x0028, 0x0103, "US", int(signed), implicit))
        if rescaled:
            body += (text(0x0028, 0x1052, "DS", str(intercept)) + text(0x0028, 0x1053, "DS", str(slope)) +
                     text(0x0028, 0x1054, "LO", unit))
        body += more
        if syntax == RLE:
            body += encapsulated(run_lengths(data))
        elif syntax == JPEG_2000:
            body += encapsulated(data)  # which is none
        else:
            body += element(0x7fe0, 0x0010, "OW", data, implicit)
    meta = (element(0x0002, 0x0001, "OB", b"\0\1") + element(0x0002, 0x0002, "UI", of) +
            element(0x0002, 0x0003, "UI", "1.2.3.4") + element(0x0002, 0x0010, "UI", syntax))
    return b"\0" * 128 + b"DICM" + element(0x0002, 0x0000, "UL", struct.pack("<I", len(meta))) + meta + body
