# SPDX-License-Identifier: Apache-2.0
"""A depth buffer: which triangle is the nearest at each pixel, and where in it.

[1] T. Luft, C. Colditz, O. Deussen: Image enhancement by unsharp masking the depth buffer.
    ACM Transactions on Graphics 25(3) (2006) 1206-1213. doi 10.1145/1141911.1142016
"""
import numpy

CHUNK = 1_000_000  # pairs of a triangle and a pixel at a time


class Canvas:
    """Rows of pixels from the top; depth grows towards the camera."""

    def __init__(self, width, height):
        self.width, self.height = width, height
        self.depth = numpy.full(width * height, -numpy.inf)
        self.triangle = numpy.full(width * height, -1)
        self.weight = numpy.zeros((width * height, 3))
        self.inside = numpy.zeros(width * height, bool)  # seen from behind

    def draw(self, corners, clip=None):
        """`corners` [n, 3, 3] in pixels (x right, y down) and depth; what has `clip` [n, 3] > 0
        is left out."""
        low = numpy.maximum(numpy.ceil(corners[:, :, :2].min(axis=1) - 0.5), 0).astype(int)
        high = numpy.floor(corners[:, :, :2].max(axis=1) - 0.5)
        high = numpy.minimum(high, (self.width - 1, self.height - 1)).astype(int)
        extent = numpy.maximum(high - low + 1, 0)
        pairs = extent[:, 0] * extent[:, 1]
        if clip is not None:
            pairs[(clip > 0).all(axis=1)] = 0
        drawn = numpy.flatnonzero(pairs)
        end = numpy.cumsum(pairs[drawn])
        first = 0
        while first < len(drawn):
            before = end[first - 1] if first else 0
            last = max(first + 1, int(numpy.searchsorted(end, before + CHUNK)))
            part = drawn[first:last]
            self.fill(part, corners, clip, low[part], extent[part], pairs[part])
            first = last

    def fill(self, triangles, corners, clip, low, extent, pairs):
        own = numpy.repeat(numpy.arange(len(pairs)), pairs)
        place = numpy.arange(len(own)) - numpy.repeat(numpy.cumsum(pairs) - pairs, pairs)
        x = low[own, 0] + place % extent[own, 0]
        y = low[own, 1] + place // extent[own, 0]
        triangle = triangles[own]
        a, b, c = (corners[triangle, k, :2] - numpy.stack([x + 0.5, y + 0.5], axis=1)
                   for k in range(3))
        weight = numpy.stack([p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]
                              for p, q in ((b, c), (c, a), (a, b))], axis=1)
        total = weight.sum(axis=1)
        hit = numpy.flatnonzero((weight * total[:, None] >= 0).all(axis=1) & (total != 0))
        weight = weight[hit] / total[hit, None]
        triangle, pixel, total = triangle[hit], y[hit] * self.width + x[hit], total[hit]
        depth = (weight * corners[triangle, :, 2]).sum(axis=1)
        front = depth > self.depth[pixel]
        if clip is not None:
            front &= (weight * clip[triangle]).sum(axis=1) <= 0
        front = numpy.flatnonzero(front)
        front = front[numpy.argsort(depth[front])]  # of several, the last assignment stays
        pixel = pixel[front]
        self.depth[pixel] = depth[front]
        self.triangle[pixel] = triangle[front]
        self.weight[pixel] = weight[front]
        self.inside[pixel] = total[front] > 0  # y points down

    def seen(self):
        return (self.triangle >= 0).reshape(self.height, self.width)

    def depths(self):
        return self.depth.reshape(self.height, self.width)

    def interpolate(self, values):
        """`values` [n, 3, ...] at corners of the triangles, at pixels [height, width, ...]."""
        weight = self.weight.reshape(self.weight.shape + (1,) * (values.ndim - 2))
        return self.reshape((weight * values[self.triangle]).sum(axis=1))

    def pick(self, values):
        """`values` [n] of the triangles, at pixels."""
        return self.reshape(values[self.triangle])

    def reshape(self, pixels):
        return pixels.reshape((self.height, self.width) + pixels.shape[1:])

    def borders(self, labels, step):
        """Pixels next to another label, on a surface that goes on: depth differs by < `step`."""
        found = numpy.zeros((self.height, self.width), bool)
        seen, depth = self.seen(), self.depths()
        for here, there in ((numpy.s_[1:, :], numpy.s_[:-1, :]),
                            (numpy.s_[:, 1:], numpy.s_[:, :-1])):
            both = seen[here] & seen[there]
            with numpy.errstate(invalid="ignore"):
                both &= numpy.abs(depth[here] - depth[there]) < step
            differ = both & (labels[here] != labels[there])
            found[here] |= differ
            found[there] |= differ
        return found


def blur(image, radius):
    """The mean over a square, taken twice; the border repeats."""
    for axis in (0, 1, 0, 1):
        width = [(radius + 1, radius) if d == axis else (0, 0) for d in (0, 1)]
        sums = numpy.cumsum(numpy.pad(image, width, mode="edge"), axis=axis)
        count = image.shape[axis]
        image = (numpy.take(sums, range(2 * radius + 1, 2 * radius + 1 + count), axis=axis) -
                 numpy.take(sums, range(count), axis=axis)) / (2 * radius + 1)
    return image


def dents(canvas, size):
    """How much darker pixels are for the depth around them [1]; `size`: of the part, in pixels."""
    seen, depth = canvas.seen(), canvas.depths()
    # What is not seen is as deep as what is seen nearby, so that outlines do not darken.
    share = numpy.where(seen, 1.0, 0.0)
    filled = numpy.where(seen, depth, 0)
    dark = numpy.zeros(depth.shape)
    for radius, strength in ((size // 170, 2.2), (size // 45, 1.4)):
        radius = max(radius, 1)
        mean = blur(filled, radius) / numpy.maximum(blur(share, radius), 1e-6)
        dark += strength * numpy.clip((mean - filled) / size, 0, 0.12)
    return numpy.where(seen, dark, 0)
