# SPDX-License-Identifier: Apache-2.0
"""A picture of a field in a .hdf file or .hdf.series, with ParaView 5.11 or later:

    pvbatch scripts/picture.py out/tibia.hdf --field sed -o sed.png
    xvfb-run -a pvbatch scripts/picture.py out/tibia.hdf --cut x --log      (without a display)
    pvbatch scripts/picture.py out/heart.hdf --isochrones 10 --view -1 -2 0.6
    pvbatch scripts/picture.py out/raptor.hdf.series --time 2 --rest --up y --view 2 1 2

Shows the surface of the mesh, or with --cut the half behind a plane through its middle, coloured by
the field (of cells or points; the magnitude of a vector) between its 2nd and 98th percentile. With
--isochrones the field is that of `femura eikonal`, in bands of so many ms with a line between two;
what no wave reached is grey. Files of `femura softbody` have the points where they are at a time,
the last of a series without --time; --rest shows where they began as well.
"""
import argparse
import math
import sys

import numpy
from paraview import servermanager, simple
from vtkmodules.util.numpy_support import vtk_to_numpy


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--field", default="", help="name of the array (default: sed, with "
                        "--isochrones activation_time, of a series displacement)")
    parser.add_argument("-o", "--output", default="", help="PNG file (default: FILE's name .png)")
    parser.add_argument("--cut", choices="xyz", help="normal of a plane through the middle")
    parser.add_argument("--warp", type=float, default=0, help="scale of shown displacements")
    parser.add_argument("--range", type=float, nargs=2, metavar=("MIN", "MAX"))
    parser.add_argument("--log", action="store_true", help="logarithmic colours")
    parser.add_argument("--isochrones", type=float, default=0, metavar="MS",
                        help="time between two isochrones")
    parser.add_argument("--time", type=float, metavar="S", help="of a series: the step next to it")
    parser.add_argument("--rest", action="store_true",
                        help="the shape without its displacement, pale")
    parser.add_argument("--view", type=float, nargs=3, metavar=("X", "Y", "Z"),
                        help="direction from the middle to the camera")
    parser.add_argument("--up", choices="xyz", default="z", help="axis that points up")
    parser.add_argument("--size", type=int, nargs=2, default=(1200, 1200), metavar=("W", "H"))
    options = parser.parse_args()
    if options.isochrones < 0 or options.isochrones and options.log:
        parser.error("--isochrones: greater than 0 and without --log")
    is_series = options.file.endswith(".series")
    if options.time is not None and not is_series:
        parser.error("--time: FILE is no .hdf.series")
    options.field = options.field or ("activation_time" if options.isochrones else
                                      "displacement" if is_series else "sed")
    return options


def go_to_time(source, wanted):
    """Shows the step of a series next to `wanted` s, or the last; returns its time."""
    times = list(source.TimestepValues)
    if not times:
        sys.exit("the series has no steps")
    time = times[-1] if wanted is None else min(times, key=lambda t: abs(t - wanted))
    simple.GetAnimationScene().AnimationTime = time
    source.UpdatePipeline(time)
    return time


def find_array(source, wanted):
    """('CELLS' or 'POINTS', name) of the array called `wanted`, in any case of letters."""
    known = []
    for place, arrays in (("CELLS", source.CellData), ("POINTS", source.PointData)):
        for name in arrays.keys():
            if name.lower() == wanted.lower():
                return place, name
            known.append(name)
    sys.exit(f"there is no field '{wanted}'; the file has: {', '.join(known)}")


def colour_range(source, place, name, logarithmic):
    """The 2nd and 98th percentile of the values, so that single voxels do not take the colours."""
    data = servermanager.Fetch(source)
    arrays = data.GetCellData() if place == "CELLS" else data.GetPointData()
    values = vtk_to_numpy(arrays.GetArray(name))
    if values.ndim == 2:
        values = (values ** 2).sum(axis=1) ** 0.5
    if logarithmic:
        values = values[values > 0]
        if values.size == 0:
            sys.exit(f"'{name}' is nowhere above 0: leave out --log")
    values = numpy.sort(values)  # a copy: the array is the pipeline's own
    last = values.size - 1
    return float(values[int(0.02 * last)]), float(values[int(0.98 * last)])


def isochrone_times(source, name, step):
    """Multiples of `step` around all times of the points; those that are not reached have -1."""
    values = vtk_to_numpy(servermanager.Fetch(source).GetPointData().GetArray(name))
    values = values[values >= 0]
    if values.size == 0:
        sys.exit(f"'{name}': no wave reaches any point")
    first, last = math.floor(values.min() / step), math.ceil(values.max() / step)
    return [step * k for k in range(first, max(last, first + 1) + 1)]


def draw_isochrones(surface, name, times, colours, view):
    """Bands of one colour each, lines between them, grey below 0."""
    colours.RescaleTransferFunction(times[0], times[-1])
    colours.Discretize = 1
    colours.NumberOfTableValues = len(times) - 1
    colours.UseBelowRangeColor = 1
    colours.BelowRangeColor = [0.7, 0.7, 0.7]
    if len(times) > 2:
        lines = simple.Contour(Input=surface, ContourBy=["POINTS", name], Isosurfaces=times[1:-1])
        shown = simple.Show(lines, view)
        shown.Representation = "Surface"
        simple.ColorBy(shown, None)
        shown.AmbientColor = shown.DiffuseColor = [0, 0, 0]
        shown.LineWidth = 2


def draw_rest(source, view):
    """The surface before the displacement, through which one sees."""
    array = find_array(source, "displacement")
    rest = simple.WarpByVector(Input=source, Vectors=list(array), ScaleFactor=-1)
    shown = simple.Show(simple.ExtractSurface(Input=rest), view)
    shown.Representation = "Surface"
    shown.ColorArrayName = ["POINTS", ""]  # of one colour
    shown.AmbientColor = shown.DiffuseColor = [0.6, 0.6, 0.6]
    shown.Opacity = 0.3


def main():
    options = parse()
    source = simple.OpenDataFile(options.file)
    if source is None:
        sys.exit(f"{options.file}: cannot be opened by this ParaView (5.11 or later reads VTKHDF)")
    source.UpdatePipeline()
    if options.file.endswith(".series"):
        time = go_to_time(source, options.time)
    place, name = find_array(source, options.field)
    if options.isochrones:
        if place != "POINTS":
            sys.exit(f"'{name}' is a field of cells: isochrones need one of points")
        times = isochrone_times(source, name, options.isochrones)
        low, high = times[0], times[-1]
    else:
        low, high = options.range or colour_range(source, place, name, options.log)
    bounds = source.GetDataInformation().GetBounds()
    centre = [(bounds[2 * d] + bounds[2 * d + 1]) / 2 for d in range(3)]

    shown = source
    if options.warp:
        array = find_array(source, "displacement")
        shown = simple.WarpByVector(Input=shown, Vectors=list(array), ScaleFactor=options.warp)
    direction = [1.0, 2.0, 0.6]  # from the middle to the camera
    if options.cut:
        normal = [float(axis == options.cut) for axis in "xyz"]
        shown = simple.Clip(Input=shown, ClipType="Plane", Invert=1,
                            Crinkleclip=int(not options.isochrones))
        shown.ClipType.Origin = centre
        shown.ClipType.Normal = normal
        direction = [0.35 + 2 * n for n in normal]
    direction = options.view or direction
    surface = simple.ExtractSurface(Input=shown)

    view = simple.CreateRenderView()
    view.ViewSize = list(options.size)
    view.OrientationAxesVisibility = 1
    view.UseColorPaletteForBackground = 0
    view.Background = [1, 1, 1]
    if options.rest:
        draw_rest(source, view)
    display = simple.Show(surface, view)
    display.Representation = "Surface"
    simple.ColorBy(display, (place, name))
    colours = simple.GetColorTransferFunction(name)
    colours.ApplyPreset("Viridis (matplotlib)", True)
    colours.RescaleTransferFunction(low, high)
    if options.log:
        colours.MapControlPointsToLogSpace()
        colours.UseLogScale = 1
    if options.isochrones:
        draw_isochrones(surface, name, times, colours, view)
    bar = simple.GetScalarBar(colours, view)
    bar.Title = "activation time (ms)" if options.isochrones else name
    bar.ComponentTitle = ""
    if options.isochrones:
        bar.RangeLabelFormat = "%g"
    bar.TitleColor = bar.LabelColor = [0, 0, 0]
    display.SetScalarBarVisibility(view, True)

    diagonal = sum((bounds[2 * d + 1] - bounds[2 * d]) ** 2 for d in range(3)) ** 0.5
    view.CameraFocalPoint = centre
    view.CameraPosition = [c + diagonal * d for c, d in zip(centre, direction)]
    up = "y" if options.cut == options.up == "z" else options.up
    view.CameraViewUp = [float(axis == up) for axis in "xyz"]
    view.ResetCamera(False)
    output = options.output or options.file.replace(".series", "").rsplit(".", 1)[0] + ".png"
    simple.SaveScreenshot(output, view, ImageResolution=list(options.size))
    when = f" at {time:.4g} s" if options.file.endswith(".series") else ""
    print(f"{output}: {name}{when} from {low:.4g} to {high:.4g}")


if __name__ == "__main__":
    main()
