# SPDX-License-Identifier: Apache-2.0
"""A picture of what ossatura wrote: FILE.hdf, .hdf.series or .stl as a PNG, without a display.

    python3 scripts/picture out/tibia.hdf --field sed -o sed.png
    python3 scripts/picture out/tibia.hdf --cut x --log
    python3 scripts/picture out/heart.hdf --isochrones 10 --view -1 -2 0.6
    python3 scripts/picture out/raptor.hdf.series --time 2 --rest --up y --view 2 1 2
    python3 scripts/picture out/sphere.hdf --lines element
    python3 scripts/picture out/bridge.hdf --where density 0.5 1 --mirror y 0
    python3 scripts/picture out/part.stl

needs numpy, h5py, matplotlib and Pillow: docs/pictures.md.

Shows the surface of a mesh in parallel projection, coloured by a field of cells or points (the
length of a vector, or NAME:x, NAME:xx) between the 1st and 99th percentile of what is seen. A
million triangles take some ten seconds.
"""
import argparse
import sys

try:
    import numpy

    from canvas import Canvas
    from figure import PAINT, LINE, Colours, mean_of_four, shade, write_png
    from mesh_file import InputError, read_hdf, read_series, read_stl
    from surface import boundary, corner_normals, section, unit
except ImportError as error:
    sys.exit(f"picture: {error}\n"
             "pip install numpy h5py matplotlib, or as root on Debian: "
             "apt-get install --no-install-recommends python3-h5py python3-matplotlib")

DEFAULT_FIELDS = ["sed", "activation_time", "von_mises", "density", "displacement"]
FULL_NAMES = {"sed": "strain energy density", "von_mises": "von Mises stress"}
AXES = "xyz"


def parse():
    parser = argparse.ArgumentParser(prog="picture", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("-o", "--output", metavar="PNG", help="default: FILE's name .png")
    shown = parser.add_argument_group("what is shown")
    shown.add_argument("--field", metavar="NAME", help="that colours; default: the first there is "
                       f"of {', '.join(DEFAULT_FIELDS)}; 'none': one colour")
    shown.add_argument("--time", type=float, metavar="S", help="of a series: the step next to it "
                       "(default: the last)")
    shown.add_argument("--where", nargs=3, metavar=("NAME", "MIN", "MAX"),
                       help="only cells whose field NAME is between two values")
    shown.add_argument("--cut", nargs="+", metavar=("AXIS", "PLACE"), help="leave out what is in "
                       "front of the plane AXIS = PLACE (default: through the middle)")
    shown.add_argument("--mirror", nargs=2, action="append", default=[], metavar=("AXIS", "PLACE"),
                       help="also the mirror image in that plane")
    shown.add_argument("--warp", type=float, default=0, metavar="FACTOR",
                       help="move points by so many times their displacement")
    shown.add_argument("--rest", action="store_true",
                       help="the shape without its displacement as well, pale")
    colour = parser.add_argument_group("colours")
    colour.add_argument("--range", type=float, nargs=2, metavar=("MIN", "MAX"))
    colour.add_argument("--log", action="store_true", help="logarithmic")
    colour.add_argument("--isochrones", type=float, default=0, metavar="STEP",
                        help="bands of that width with lines between them; grey where there is no "
                        "value")
    colour.add_argument("--lines", metavar="NAME", help="lines between cells whose field NAME "
                        "differs; 'cells': around all cells")
    colour.add_argument("--colours", default="viridis", metavar="MAP", help="of matplotlib")
    colour.add_argument("--label", help="of the colour bar (default: name and unit of the field)")
    colour.add_argument("--bar", choices=("right", "bottom", "none"), default="right")
    camera = parser.add_argument_group("camera")
    camera.add_argument("--view", type=float, nargs=3, default=(1, -2, 0.8),
                        metavar=("X", "Y", "Z"), help="direction from the middle to the camera")
    camera.add_argument("--up", choices=("x", "y", "z", "-x", "-y", "-z"), default="z",
                        help="axis that points up; write --up=-z")
    camera.add_argument("--crease", type=float, default=35, metavar="DEGREES",
                        help="edges that are sharper stay sharp")
    camera.add_argument("--smooth", type=int, default=0, metavar="TIMES", help="smooth the light "
                        "on the stairs of voxels, in place of --crease")
    camera.add_argument("--size", type=int, nargs=2, default=(900, 700), metavar=("W", "H"))
    options = parser.parse_args()
    if min(options.size) < 16 or max(options.size) > 8192:
        parser.error("--size: 16 to 8192")
    if numpy.linalg.norm(numpy.cross(options.view, axis_vector(options.up))) < 1e-6:
        parser.error("--view: must not be along --up")
    if options.isochrones < 0 or options.isochrones and options.log:
        parser.error("--isochrones: greater than 0 and without --log")
    if options.time is not None and not options.file.endswith(".series"):
        parser.error("--time: FILE is no .hdf.series")
    try:
        Colours(options.colours, 0, 1)  # refuses a name that is not known
        options.cut = options.cut and (axis(options.cut[0]), *map(float, options.cut[1:2]))
        options.mirror = [(axis(name), float(place)) for name, place in options.mirror]
        options.where = options.where and (options.where[0], *map(float, options.where[1:]))
    except (KeyError, ValueError) as error:
        parser.error(str(error))
    return options


def axis(name):
    if name not in list(AXES):
        raise ValueError(f"'{name}' is not an axis: x, y or z")
    return AXES.index(name)


def axis_vector(name):
    sign = -1.0 if name[0] == "-" else 1.0
    return numpy.array([sign * (name[-1] == other) for other in AXES])


def read(options):
    """(mesh, a text for its time)."""
    if options.file.endswith(".series"):
        mesh, time = read_series(options.file, options.time)
        return mesh, f" at {time:.4g} s"
    return (read_stl if options.file.endswith(".stl") else read_hdf)(options.file), ""


def choose_field(mesh, options):
    """(label, is of points, values) or None for one colour."""
    wanted = options.field
    if wanted is None:
        known = {name.lower() for name in mesh.fields}
        wanted = next((name for name in DEFAULT_FIELDS if name in known), "none")
    if wanted == "none":
        return None
    name, unit_name, of_points, values = mesh.field(wanted)
    label = FULL_NAMES.get(name, name.replace("_", " "))
    unit_name = unit_name.replace("m3", "m³").replace("m2", "m²")
    if unit_name and unit_name != "1":
        label += f" ({unit_name})"
    return options.label or label, of_points, values


def camera_axes(options):
    """Columns: to the right, up, towards the camera."""
    back = unit(numpy.array(options.view, float))
    right = unit(numpy.cross(axis_vector(options.up), back))
    return numpy.stack([right, numpy.cross(back, right), back], axis=1)


def triangles_of(mesh, field, options):
    """What there is to draw."""
    shown = None
    if options.where:
        name, low, high = options.where
        _, _, of_points, values = mesh.field(name)
        if of_points:
            raise InputError(f"{mesh.path}: '{name}' is a field of points: --where needs cells")
        shown = (values >= low) & (values <= high)
        if not shown.any():
            raise InputError(f"{mesh.path}: '{name}' is nowhere from {low:g} to {high:g}")
    of_points, values = field[1:] if field else (False, numpy.zeros(mesh.num_cells))
    found = boundary(mesh, values, of_points, shown)
    if options.cut:
        normal, *place = options.cut
        points = found.corner[:, :, normal]
        place = place[0] if place else (points.min() + points.max()) / 2
        found.ahead = (1 if options.view[normal] >= 0 else -1) * (points - place)
        found = found.chosen((found.ahead <= 0).any(axis=1))
        found += section(mesh, values, of_points, shown, normal, place)
        if len(found.cell) == 0:
            raise InputError(f"{mesh.path}: nothing is left behind the cut")
    for normal, place in options.mirror:
        found += found.mirrored(normal, place)
    return found


def kept_corners(triangles):
    """[n, 3] of what is not cut off."""
    return triangles.corner[triangles.ahead <= 0]


class Projection:
    """Into the part of the picture that the colour bar leaves free; everything twice as large."""

    def __init__(self, corners, options, text_size):
        self.axes = camera_axes(options)
        width, height = options.size
        if options.bar == "right":
            width -= int(6 * text_size)
        if options.bar == "bottom":
            height -= int(4.8 * text_size)
        corners = corners @ self.axes
        low, high = corners.min(axis=0), corners.max(axis=0)
        extent = numpy.maximum(high - low, 1e-300)
        self.scale = 2 * 0.95 * min(width / extent[0], height / extent[1])
        self.middle = (low + high) / 2
        self.centre = (width, height, 0)
        self.size = int(self.scale * max(extent[:2]))  # of the part, in pixels

    def __call__(self, corners):
        return (corners @ self.axes - self.middle) * self.scale * (1, -1, 1) + self.centre


def draw(triangles, projection, options, closed, colours_of):
    """(canvas, colours [height, width, 3]); `colours_of(canvas)` gives the paint."""
    canvas = Canvas(2 * options.size[0], 2 * options.size[1])
    canvas.draw(projection(triangles.corner), triangles.ahead if options.cut else None)
    if not canvas.seen().any():
        raise InputError(f"{options.file}: nothing to see")
    normals = corner_normals(triangles, options.crease, options.smooth) @ projection.axes
    return canvas, shade(canvas, normals, colours_of(canvas), projection.size, closed)


def value_colours(values, options):
    """The colours for the `values` [n] that are seen."""
    values = values[numpy.isfinite(values)]
    if options.log:
        values = values[values > 0]
    if values.size == 0:
        raise InputError("the field has no values that can be shown" +
                         (" above 0: leave out --log" if options.log else ""))
    low, high = options.range or (
        (values.min(), values.max()) if options.isochrones else
        numpy.percentile(values, (1, 99)))
    if not high > low:
        high = low + (abs(low) or 1) * 1e-3
    return Colours(options.colours, low, high, options.log, options.isochrones), low, high


def make(options):
    mesh, when = read(options)
    field = choose_field(mesh, options)
    closed = options.file.endswith(".stl")  # all others have cells, or are thin
    if field is None:
        options.bar = "none"
    rest = mesh.vectors("displacement") if options.rest else None
    if options.warp:
        mesh.points = mesh.points + options.warp * mesh.vectors("displacement")
    text_size = max(11, 5 + 0.012 * sum(options.size) / 2)  # pixels
    triangles = triangles_of(mesh, field, options)
    corners = kept_corners(triangles)
    if options.rest:
        moved = options.warp or 1
        mesh.points = mesh.points - moved * rest
        rest_triangles = triangles_of(mesh, None, options)
        corners = numpy.concatenate([corners, kept_corners(rest_triangles)])
    projection = Projection(corners, options, text_size)

    colours, text = None, "one colour"

    def paint(canvas):
        nonlocal colours, text
        if field is None:
            return numpy.broadcast_to(PAINT, (canvas.height, canvas.width, 3))
        values = canvas.interpolate(triangles.value)
        colours, low, high = value_colours(values[canvas.seen()], options)
        text = f"{field[0]}{when} from {low:.4g} to {high:.4g}"
        if options.log:
            values = numpy.where(values > 0, values, numpy.nan)
        return colours(values)

    canvas, picture = draw(triangles, projection, options, closed, paint)
    step = 0.02 * projection.size
    lines = numpy.zeros(picture.shape[:2], bool)
    if options.isochrones:
        bands = numpy.floor(canvas.interpolate(triangles.value) / options.isochrones)
        lines |= canvas.borders(numpy.nan_to_num(bands, nan=-1e9), step)
    if options.lines:
        label = numpy.arange(mesh.num_cells)
        if options.lines != "cells":
            _, _, of_points, label = mesh.field(options.lines)
            if of_points:
                raise InputError(f"{mesh.path}: '{options.lines}' is a field of points: --lines "
                                 "needs cells")
        lines |= canvas.borders(canvas.pick(label[triangles.cell]), step)
    picture = numpy.where(lines[..., None], 0.35 * picture + 0.65 * LINE, picture)
    if options.rest:
        ghost, pale = draw(rest_triangles, projection, options, closed, lambda canvas: numpy.full(
            (canvas.height, canvas.width, 3), 0.75))
        over = ghost.seen() & (ghost.depths() > canvas.depths())
        picture = numpy.where(over[..., None], 0.7 * picture + 0.3 * pale, picture)
    output = options.output or options.file.replace(".series", "").rsplit(".", 1)[0] + ".png"
    write_png(output, mean_of_four(picture), None if options.bar == "none" else colours,
              field[0] if field else "", options.bar, text_size)
    print(f"{output}: {len(triangles.cell)} triangles, {text}")


def main():
    options = parse()
    try:
        make(options)
    except (InputError, OSError) as error:
        sys.exit(f"picture: {error}")


if __name__ == "__main__":
    main()
