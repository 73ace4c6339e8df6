# SPDX-License-Identifier: Apache-2.0
"""Light, colours, the colour bar and the PNG file."""
import numpy
from matplotlib import colormaps
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterSciNotation, MaxNLocator
from PIL import Image

from canvas import dents
from surface import unit

PAINT = numpy.array([0.66, 0.73, 0.82])
INSIDE = numpy.array([0.80, 0.35, 0.30])
NOWHERE = numpy.array([0.72, 0.72, 0.72])  # where the field has no value
LINE = numpy.array([0.10, 0.10, 0.12])
LIGHTS = (((-0.45, 0.65, 0.75), 0.60), ((0.8, 0.1, 0.5), 0.22))  # towards them, in camera axes
AMBIENT = 0.44


class Colours:
    """From values to colours: between `low` and `high`, or in bands of `step`."""

    def __init__(self, name, low, high, logarithmic=False, step=0):
        self.step = step
        if step:
            edges = numpy.arange(numpy.floor(low / step), numpy.ceil(high / step) + 0.5) * step
            self.edges = edges if len(edges) > 1 else numpy.array([edges[0], edges[0] + step])
            norm = BoundaryNorm(self.edges, colormaps[name].N)
        else:
            norm = (LogNorm if logarithmic else Normalize)(low, high)
        self.map = ScalarMappable(norm, colormaps[name])

    def __call__(self, values):
        """Colours [..., 3] in 0 to 1."""
        colours = self.map.to_rgba(values)[..., :3]
        return numpy.where(numpy.isnan(values)[..., None], NOWHERE, colours)


def shade(canvas, normals, paint, size, closed=True):
    """`paint` [height, width, 3] in the light, white where nothing is. `normals` [n, 3, 3] in the
    camera's axes; `size` of the part in pixels. The back of a surface that is not `closed` looks
    like its front, else red."""
    normal = unit(canvas.interpolate(normals))
    inside = canvas.reshape(canvas.inside)
    back = inside if closed else normal[..., 2] < 0
    normal = numpy.where(back[..., None], -normal, normal)
    if closed:
        paint = numpy.where(inside[..., None], INSIDE, paint)
    light = numpy.full(inside.shape, AMBIENT)
    for direction, strength in LIGHTS:
        light += strength * numpy.maximum(normal @ unit(numpy.array(direction)), 0)
    half = unit(unit(numpy.array(LIGHTS[0][0])) + (0, 0, 1))
    gloss = 0.12 * numpy.maximum(normal @ half, 0) ** 40
    light *= 1 - dents(canvas, size)
    colour = numpy.clip(paint * light[..., None] + gloss[..., None], 0, 1)
    return numpy.where(canvas.seen()[..., None], colour, 1.0)


def mean_of_four(colours):
    height, width = colours.shape[:2]
    return colours.reshape(height // 2, 2, width // 2, 2, -1).mean(axis=(1, 3))


def write_png(path, picture, colours, label, where, text_size):
    """`picture` [height, width, 3] in 0 to 1 with a bar of the `colours` (None: none) in the free
    space `where`: right or bottom. 256 colours."""
    height, width = picture.shape[:2]
    if colours is not None:
        figure = Figure(figsize=(width / 100, height / 100), dpi=100)
        canvas = FigureCanvasAgg(figure)
        figure.figimage(picture, zorder=-1)
        points = 0.72 * text_size  # at 100 dots per inch
        if where == "right":
            box = [0.9, 0.14, 1.1 * text_size / width, 0.72]
        else:
            box = [0.2, 0.1, 0.6, 0.9 * text_size / height]
        axes = figure.add_axes(box)
        bar = figure.colorbar(colours.map, cax=axes,
                              orientation="vertical" if where == "right" else "horizontal")
        bar.outline.set_visible(False)
        bar.solids.set_edgecolor("face")
        if colours.step:
            every = 1 + (len(colours.edges) - 1) // 8  # edges that get a number
            bar.set_ticks(colours.edges[numpy.round(colours.edges / colours.step) % every == 0])
            bar.ax.minorticks_off()
        elif isinstance(colours.map.norm, LogNorm):
            bar.formatter = LogFormatterSciNotation(minor_thresholds=(1.2, 0.5))
        else:
            bar.locator = MaxNLocator(5)
            bar.formatter.set_powerlimits((-3, 4))
            bar.formatter.set_useMathText(True)
        bar.update_ticks()
        bar.ax.tick_params(labelsize=points, length=3, width=0.6, colors="#202020", which="both")
        for text in (bar.ax.yaxis.get_offset_text(), bar.ax.xaxis.get_offset_text()):
            text.set_size(points)
        bar.set_label(label, size=points, color="#202020", labelpad=0.35 * text_size)
        # The bar, its numbers and its label just fit into the corner.
        extent = axes.get_tightbbox(canvas.get_renderer())
        if where == "right":
            box[0] -= (extent.x1 + 0.6 * text_size) / width - 1
        else:
            box[1] -= (extent.y0 - 0.6 * text_size) / height
        axes.set_position(box)
        canvas.draw()
        pixels = numpy.asarray(canvas.buffer_rgba())[..., :3]
    else:
        pixels = numpy.round(255 * picture).astype(numpy.uint8)
    image = Image.fromarray(numpy.ascontiguousarray(pixels))
    image.save(path, "PNG", optimize=True)
