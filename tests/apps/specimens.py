# SPDX-License-Identifier: Apache-2.0
"""Small images of bone-like lattices, as a study has many."""
import os

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
