# SPDX-License-Identifier: Apache-2.0
"""A picture of a binary STL file, as `femura topopt` writes it, with numpy and nothing else:

    python3 scripts/picture_stl.py out/part.stl
    python3 scripts/picture_stl.py out/part.stl -o part.png --view 1 -2 0.6 --up y --size 1600 1200
    python3 scripts/picture_stl.py out/part.stl --cut x

Parallel projection into a depth buffer; triangles are shaded smoothly but for edges sharper than
--crease, dents are darkened by the depth around them [1]. --cut leaves out what is in front of a
plane through the middle; the inside is then red. A million triangles take some ten seconds.

[1] T. Luft, C. Colditz, O. Deussen: Image enhancement by unsharp masking the depth buffer.
    ACM Transactions on Graphics 25(3) (2006) 1206-1213. doi 10.1145/1141911.1142016
"""
import argparse
import struct
import sys
import zlib

import numpy

PAINT = numpy.array([0.62, 0.70, 0.80])
INSIDE = numpy.array([0.80, 0.35, 0.30])
CHUNK = 4_000_000  # pairs of a triangle and a pixel at a time


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("-o", "--output", help="PNG file (default: FILE's name .png)")
    parser.add_argument("--view", type=float, nargs=3, default=(1, -2, 0.8),
                        metavar=("X", "Y", "Z"), help="direction from the middle to the camera")
    parser.add_argument("--up", choices="xyz", default="z", help="axis that points up")
    parser.add_argument("--cut", choices="xyz", help="normal of a plane through the middle")
    parser.add_argument("--crease", type=float, default=35, metavar="DEGREES")
    parser.add_argument("--size", type=int, nargs=2, default=(1200, 1000), metavar=("W", "H"))
    options = parser.parse_args()
    if min(options.size) < 16 or max(options.size) > 8192:
        parser.error("--size: 16 to 8192")
    if numpy.linalg.norm(numpy.cross(options.view, axis_vector(options.up))) < 1e-6:
        parser.error("--view: must not be along --up")
    return options


def axis_vector(axis):
    return numpy.array([float(axis == name) for name in "xyz"])


def read_triangles(path):
    """Corners [num, 3, 3] of the triangles of a binary STL file."""
    layout = numpy.dtype([("normal", "<f4", 3), ("corner", "<f4", (3, 3)), ("more", "<u2")])
    with open(path, "rb") as file:
        content = file.read()
    count = struct.unpack("<I", content[80:84])[0] if len(content) >= 84 else -1
    if len(content) != 84 + layout.itemsize * count:
        sys.exit(f"{path}: is not a whole file of binary STL")
    if count == 0:
        sys.exit(f"{path}: has no triangles")
    corners = numpy.frombuffer(content, layout, offset=84)["corner"].astype(float)
    if not numpy.isfinite(corners).all():
        sys.exit(f"{path}: has coordinates that are not finite")
    return corners


def unit(vectors):
    length = numpy.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / numpy.where(length > 0, length, 1)


def corner_normals(corners, crease):
    """Unit normals [num, 3, 3]: of each corner the mean over the triangles of its vertex that are
    turned by less than `crease` degrees from its own."""
    area = numpy.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    # Equal positions are one vertex: sorted by a hash of their bits, which is faster than by rows.
    bits = numpy.ascontiguousarray(corners.reshape(-1, 3) + 0.0).view(numpy.uint64)
    factor = numpy.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], numpy.uint64)
    mixed = (bits ^ (bits >> numpy.uint64(29))) * factor
    vertex = numpy.unique(mixed.sum(axis=1, dtype=numpy.uint64), return_inverse=True)[1].ravel()
    order = numpy.argsort(vertex, kind="stable")
    degree = numpy.bincount(vertex)
    begin = numpy.repeat(numpy.cumsum(degree) - degree, degree)
    degree = numpy.repeat(degree, degree)
    area = area[order // 3]
    own = unit(area)
    total = area.copy()
    least = numpy.cos(numpy.radians(crease))
    for step in range(1, degree.max()):  # to the others of the vertex, in a circle
        corner = numpy.flatnonzero(degree > step)
        other = begin[corner] + (corner - begin[corner] + step) % degree[corner]
        near = (own[corner] * own[other]).sum(axis=1) > least
        total[corner[near]] += area[other[near]]
    normals = numpy.empty_like(total)
    normals[order] = unit(total)
    return normals.reshape(-1, 3, 3)


class Canvas:
    """The nearest triangle of each pixel: depth (towards the camera), normal, seen from inside."""

    def __init__(self, width, height):
        self.shape = (height, width)
        self.depth = numpy.full(width * height, -numpy.inf)
        self.normal = numpy.zeros((width * height, 3))
        self.inside = numpy.zeros(width * height, bool)

    def draw(self, corners, normals):
        """`corners` in pixels and depth, `normals` in the camera's axes."""
        height, width = self.shape
        low = numpy.maximum(numpy.ceil(corners[:, :, :2].min(axis=1) - 0.5), 0).astype(int)
        high = numpy.floor(corners[:, :, :2].max(axis=1) - 0.5)
        high = numpy.minimum(high, (width - 1, height - 1)).astype(int)
        extent = numpy.maximum(high - low + 1, 0)
        pairs = extent[:, 0] * extent[:, 1]
        end = numpy.cumsum(pairs)
        first = 0
        while first < len(pairs):
            last = max(first + 1, int(numpy.searchsorted(
                end, (end[first - 1] if first else 0) + CHUNK)))
            part = slice(first, last)
            self.fill(corners[part], normals[part], low[part], extent[part], pairs[part])
            first = last

    def fill(self, corners, normals, low, extent, pairs):
        triangle = numpy.repeat(numpy.arange(len(pairs)), pairs)
        place = numpy.arange(len(triangle)) - numpy.repeat(numpy.cumsum(pairs) - pairs, pairs)
        x = low[triangle, 0] + place % extent[triangle, 0]
        y = low[triangle, 1] + place // extent[triangle, 0]
        a, b, c = (corners[triangle, k] for k in range(3))
        px, py = x + 0.5, y + 0.5
        u = (c[:, 0] - b[:, 0]) * (py - b[:, 1]) - (c[:, 1] - b[:, 1]) * (px - b[:, 0])
        v = (a[:, 0] - c[:, 0]) * (py - c[:, 1]) - (a[:, 1] - c[:, 1]) * (px - c[:, 0])
        w = (b[:, 0] - a[:, 0]) * (py - a[:, 1]) - (b[:, 1] - a[:, 1]) * (px - a[:, 0])
        total = u + v + w
        hit = numpy.flatnonzero((u * total >= 0) & (v * total >= 0) & (w * total >= 0) &
                                (total != 0))
        weight = numpy.stack([u[hit], v[hit], w[hit]], axis=1) / total[hit, None]
        triangle, pixel = triangle[hit], y[hit] * self.shape[1] + x[hit]
        depth = (weight * corners[triangle, :, 2]).sum(axis=1)
        front = numpy.flatnonzero(depth > self.depth[pixel])
        front = front[numpy.argsort(depth[front])]  # of several, the last assignment stays
        triangle, pixel, weight = triangle[front], pixel[front], weight[front]
        self.depth[pixel] = depth[front]
        self.normal[pixel] = (weight[:, :, None] * normals[triangle]).sum(axis=1)
        self.inside[pixel] = total[hit[front]] > 0  # y points down


def blur(image, radius):
    """The mean over a square, taken twice; the border repeats."""
    for axis in (0, 1, 0, 1):
        width = [(radius + 1, radius) if d == axis else (0, 0) for d in (0, 1)]
        sums = numpy.cumsum(numpy.pad(image, width, mode="edge"), axis=axis)
        count = image.shape[axis]
        image = (numpy.take(sums, range(2 * radius + 1, 2 * radius + 1 + count), axis=axis) -
                 numpy.take(sums, range(count), axis=axis)) / (2 * radius + 1)
    return image


def shade(canvas, size):
    """Colours [height, width, 3] in 0 to 1; `size`: extent of the part in units of depth."""
    height, width = canvas.shape
    depth = canvas.depth.reshape(height, width)
    seen = numpy.isfinite(depth)
    normal = unit(canvas.normal.reshape(height, width, 3))
    inside = canvas.inside.reshape(height, width)
    normal = numpy.where(inside[..., None], -normal, normal)
    light = numpy.full((height, width), 0.30)
    for direction, strength in (((-0.5, 0.6, 0.8), 0.62), ((0.8, 0.1, 0.5), 0.22)):
        light += strength * numpy.maximum(normal @ unit(numpy.array(direction)), 0)
    half = unit(unit(numpy.array((-0.5, 0.6, 0.8))) + (0, 0, 1))
    gloss = 0.18 * numpy.maximum(normal @ half, 0) ** 40
    filled = numpy.where(seen, depth, depth[seen].min() if seen.any() else 0)
    for radius, strength in ((height // 160, 2.2), (height // 40, 1.4)):
        dent = numpy.clip((blur(filled, max(radius, 1)) - filled) / size, 0, 0.12)
        light *= 1 - strength * dent
    colour = numpy.where(inside[..., None], INSIDE, PAINT) * light[..., None] + gloss[..., None]
    sky = numpy.linspace(1.0, 0.90, height)[:, None, None] * numpy.ones(3)
    return numpy.clip(numpy.where(seen[..., None], colour, sky), 0, 1)


def write_png(path, colours):
    """`colours` [height, width, 3] in 0 to 1."""
    height, width = colours.shape[:2]
    pixels = numpy.zeros((height, 1 + 3 * width), numpy.uint8)  # each row begins with its filter, 0
    pixels[:, 1:] = numpy.round(255 * colours).astype(numpy.uint8).reshape(height, -1)

    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))

    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" +
                   chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(pixels.tobytes(), 6)) + chunk(b"IEND", b""))


def main():
    options = parse()
    corners = read_triangles(options.file)
    normals = corner_normals(corners, options.crease)
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    middle = (low + high) / 2
    back = unit(numpy.array(options.view, float))
    if options.cut:
        normal = axis_vector(options.cut)
        normal *= numpy.sign(normal @ back) or 1
        keep = ((corners - middle) @ normal).mean(axis=1) <= 0
        corners, normals = corners[keep], normals[keep]
    right = unit(numpy.cross(axis_vector(options.up), back))
    camera = numpy.stack([right, numpy.cross(back, right), back], axis=1)  # columns: x, y, depth
    corners = (corners - middle) @ camera

    width, height = (2 * n for n in options.size)  # every pixel is the mean of four
    extent = corners.max(axis=(0, 1)) - corners.min(axis=(0, 1))
    scale = 0.92 * min(width / max(extent[0], 1e-300), height / max(extent[1], 1e-300))
    shift = (corners.max(axis=(0, 1)) + corners.min(axis=(0, 1))) / 2
    corners = (corners - shift) * scale
    corners = corners * (1, -1, 1) + (width / 2, height / 2, 0)
    canvas = Canvas(width, height)
    canvas.draw(corners, normals @ camera)
    colours = shade(canvas, scale * numpy.linalg.norm(extent))
    colours = colours.reshape(height // 2, 2, width // 2, 2, 3).mean(axis=(1, 3))
    output = options.output or options.file.rsplit(".", 1)[0] + ".png"
    write_png(output, colours)
    print(f"{output}: {len(normals)} triangles, {high[0] - low[0]:.4g} x {high[1] - low[1]:.4g} x "
          f"{high[2] - low[2]:.4g}")


if __name__ == "__main__":
    main()
