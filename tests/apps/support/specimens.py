# SPDX-License-Identifier: Apache-2.0
"""Small images of bone-like lattices, as a study has many, and NIfTI."""
import gzip
import os
import struct

SPECIMENS = (16, 20, 18)  # voxels a side


def write_specimen(path, size, values=None):
    """A MetaImage of struts, with its .raw beside it; returns its path."""
    if values is None:
        planes = [bytes(1 if (x // 3 + y // 3) % 3 or solid else 0
                        for y in range(size) for x in range(size)) for solid in (0, 1)]
        values = b"".join(planes[z // 3 % 3 > 0] for z in range(size))
    data = path.replace(".mhd", ".raw")
    with open(data, "wb") as file:
        file.write(values)
    with open(path, "w") as file:
        file.write(f"ObjectType = Image\nNDims = 3\nDimSize = {size} {size} {size}\n"
                   "ElementSpacing = 0.05 0.05 0.05\nElementType = MET_UCHAR\n"
                   f"ElementDataFile = {os.path.basename(data)}\n")
    return path


def nifti_bytes(shape, spacing, kind, values, rows=None):
    """A NIfTI-1 image, compressed; the spacing is one or three, `kind` "h" or "f", rows those of its sform."""
    header = bytearray(352)
    edges = spacing if isinstance(spacing, tuple) else (spacing,) * 3
    code, bits = {"h": (4, 16), "f": (16, 32)}[kind]
    for place, form, numbers in ((0, "<i", (348,)), (40, "<8h", (3, *shape, 1, 1, 1, 1)),
                                 (70, "<2h", (code, bits)),
                                 (76, "<8f", (1, *edges, 0, 0, 0, 0)),
                                 (108, "<f", (352,)), (344, "<4s", (b"n+1",))):
        struct.pack_into(form, header, place, *numbers)
    header[123] = 2  # mm
    if rows:
        struct.pack_into("<h", header, 254, 1)
        struct.pack_into("<12f", header, 280, *(number for row in rows for number in row))
    return gzip.compress(bytes(header) + struct.pack(f"<{len(values)}{kind}", *values))


def read_nifti(path):
    """Shape, rows of the sform and values of an image of floats."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        data = file.read()
    assert struct.unpack_from("<2h", data, 70) == (16, 32) and data[123] == 2
    assert struct.unpack_from("<2h", data, 252) in ((1, 1), (0, 0))  # (0, 0): nobody said where it is
    rows = struct.unpack_from("<12f", data, 280)
    shape = struct.unpack_from("<3h", data, 42)
    count = shape[0] * shape[1] * shape[2]
    assert len(data) == 352 + 4 * count
    return shape, [rows[4 * i:4 * i + 4] for i in range(3)], struct.unpack_from(f"<{count}f", data, 352)
