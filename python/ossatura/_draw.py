# SPDX-License-Identifier: Apache-2.0
"""Pictures of results by matplotlib or PyVista, and their summaries in notebooks. Neither is imported before."""
from __future__ import annotations

import base64
import html
import io
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _optional

Draw = Callable[[Any], Any]

MAX_FACES = 40_000  # that matplotlib draws in seconds; of larger surfaces it draws dots
_MAX_DOTS = 100_000
_COLOURS = "viridis"
_TETRA = ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1))
_HEXA = ((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))


def plot(draw: Draw, draw_scene: Draw, size: tuple[float, float], path: str | os.PathLike[str] | None,
         engine: str | None) -> Any:
    """Draws by `draw`, on a figure of matplotlib, or by `draw_scene`, on a plotter of PyVista; see bone.Result.plot."""
    if _optional.choose_engine(engine) == "pyvista":
        plotter = _optional.load("pyvista", "plot()").Plotter(off_screen=None if path is None else True)
        draw_scene(plotter)
        if path is not None:
            plotter.screenshot(os.fspath(path))
        return plotter
    if path is None:
        figure = _optional.load("matplotlib.pyplot", "plot()").figure(figsize=size, layout="constrained")
    else:  # nothing that stays in a list of figures, or needs a display
        figure = _optional.load("matplotlib.figure", "plot()").Figure(figsize=size, layout="constrained")
    axes = draw(figure)
    if path is not None:
        figure.savefig(os.fspath(path), dpi=150)
    return axes


def sections(figure: Any, field: NDArray[Any], spacing: float, label: str) -> list[Any]:
    """Three sections [z, y, x] through the middle of what is not 0."""
    low, high = _range(field[field != 0])
    axes = list(figure.subplots(1, 3))
    image = None
    for one, axis, across, up in zip(axes, (0, 1, 2), "xxy", "yzz"):
        place = _middle(field, axis)
        plane = np.ma.masked_equal(field.take(place, axis), 0)
        ny, nx = plane.shape
        image = one.imshow(plane, origin="lower", extent=(0, nx * spacing, 0, ny * spacing), cmap=_COLOURS, vmin=low,
                           vmax=high, interpolation="nearest")
        one.set_title(f"{'zyx'[axis]} = {(place + 0.5) * spacing:.4g} mm", fontsize="small")
        one.set_xlabel(f"{across}, mm")
        one.set_ylabel(f"{up}, mm")
    figure.colorbar(image, ax=axes, label=label, shrink=0.8)
    return axes


def sections_scene(plotter: Any, field: NDArray[Any], spacing: float, label: str) -> None:
    """The same in space."""
    pyvista = _optional.load("pyvista", "plot()")
    grid = pyvista.ImageData(dimensions=[n + 1 for n in reversed(field.shape)], spacing=[spacing] * 3)
    label = label or "values"
    grid.cell_data[label] = field.ravel()
    x, y, z = ((_middle(field, axis) + 0.5) * spacing for axis in (2, 1, 0))
    solid = field[field != 0]
    for piece in grid.slice_orthogonal(x=x, y=y, z=z):
        piece.cell_data["solid"] = piece.cell_data[label] != 0
        piece = piece.threshold(0.5, scalars="solid")
        if piece.n_cells:
            plotter.add_mesh(piece, scalars=label, clim=_range(solid), cmap=_COLOURS, lighting=False)
    plotter.show_axes()


def surface(figure: Any, points: NDArray[np.float64], faces: Sequence[NDArray[np.int32]],
            values: Sequence[NDArray[np.float64]], label: str, unit: str) -> Any:
    """Faces [.., 3 or 4] with a value each. More than MAX_FACES are drawn as dots. Values of NaN are grey."""
    art3d = _optional.load("mpl_toolkits.mplot3d.art3d", "plot()")
    colours = _optional.load("matplotlib", "plot()").colormaps[_COLOURS].with_extremes(bad="lightgrey")
    axes = figure.add_subplot(projection="3d")
    all_values = np.ma.masked_invalid(np.concatenate(list(values)))
    low, high = _range(all_values.compressed())
    if sum(map(len, faces)) > MAX_FACES:
        middles = np.concatenate([points[some].mean(1) for some in faces])
        some = np.random.default_rng(0).permutation(len(middles))[:_MAX_DOTS]
        unknown = some[np.ma.getmaskarray(all_values)[some]]
        axes.scatter(*middles[unknown].T, color="lightgrey", s=1)
        some = some[~np.ma.getmaskarray(all_values)[some]]
        drawn = axes.scatter(*middles[some].T, c=all_values.data[some], s=1, cmap=colours, vmin=low, vmax=high)
    else:
        drawn = art3d.Poly3DCollection([face for some in faces for face in points[some]], cmap=colours,
                                       edgecolor="black", linewidth=0.1)
        drawn.set_array(all_values)
        drawn.set_clim(low, high)
        axes.add_collection3d(drawn)
    used = np.unique(np.concatenate([some.ravel() for some in faces])) if faces else np.arange(len(points))
    lower, upper = points[used].min(0), points[used].max(0)
    extent = np.maximum(upper - lower, 1e-3 * max((upper - lower).max(), 1e-300))
    for name, a, b in zip("xyz", lower, lower + extent):
        getattr(axes, f"set_{name}lim")(a, b)
        getattr(axes, f"set_{name}label")(f"{name}, {unit}", fontsize="small")
        getattr(axes, f"{name}axis").set_major_locator(
            _optional.load("matplotlib.ticker", "plot()").MaxNLocator(4 if b - a > 0.3 * extent.max() else 2))
        getattr(axes, f"{name}axis").set_tick_params(labelsize="small")
    axes.set_box_aspect(np.maximum(extent, 0.05 * extent.max()), zoom=0.85)
    figure.colorbar(drawn, ax=axes, label=label, shrink=0.6)
    return axes


def surface_scene(plotter: Any, points: NDArray[np.float64], faces: Sequence[NDArray[np.int32]],
                  values: Sequence[NDArray[np.float64]], label: str) -> None:
    """The same by PyVista, with all faces."""
    pyvista = _optional.load("pyvista", "plot()")
    limits = _range(np.concatenate(list(values)))
    for some, theirs in zip(faces, values):
        mesh = pyvista.PolyData.from_regular_faces(points, some)
        mesh.cell_data[label] = theirs
        plotter.add_mesh(mesh, scalars=label, clim=limits, cmap=_COLOURS, nan_color="lightgrey")
    plotter.show_axes()


def boundary(elements: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
    """The faces [.., 3 or 4] that one element alone has, and that element, of tetrahedra or hexahedra. Triangles are
    their own faces."""
    if elements.shape[1] == 3:
        return elements, np.arange(len(elements))
    local = np.array(_TETRA if elements.shape[1] == 4 else _HEXA)
    faces = elements[:, local].reshape(-1, local.shape[1])
    low = np.sort(faces, axis=1)[:, :3].astype(np.int64)  # three nodes tell quadrilaterals apart, too
    bits = max(1, int(elements.max(initial=0)).bit_length())
    if bits <= 21:
        low = (low[:, :1] << 2 * bits) | (low[:, 1:2] << bits) | low[:, 2:]
    _, first, count = np.unique(low, axis=0 if bits > 21 else None, return_index=True, return_counts=True)
    outer = np.sort(first[count == 1])
    return faces[outer], outer // len(local)


def summary(title: str, rows: Sequence[tuple[str, str]], draw: Draw | None, size: tuple[float, float]) -> str:
    """HTML for notebooks: numbers beside a picture, which is left out without matplotlib."""
    cells = "".join(f"<tr><td style='text-align:left'>{html.escape(name)}</td>"
                    f"<td style='text-align:left'>{html.escape(value)}</td></tr>" for name, value in rows)
    table = f"<table><thead><tr><th colspan='2'>{html.escape(title)}</th></tr></thead><tbody>{cells}</tbody></table>"
    return f"<div style='display:flex;align-items:center'>{table}{_picture(draw, size) if draw else ''}</div>"


def _picture(draw: Draw, size: tuple[float, float]) -> str:
    try:
        figure = _optional.load("matplotlib.figure", "a picture").Figure(figsize=size, layout="constrained")
    except ImportError:
        return ""
    draw(figure)
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=72)
    return f"<img src='data:image/png;base64,{base64.b64encode(out.getvalue()).decode()}'>"


def _middle(field: NDArray[Any], axis: int) -> int:
    """The place halfway along what is not 0."""
    found = np.flatnonzero(field.any(axis=tuple(k for k in range(3) if k != axis)))
    return int(found[0] + found[-1]) // 2 if found.size else field.shape[axis] // 2


def _range(values: NDArray[Any]) -> tuple[float, float]:
    """Of colours: without the extreme values of a field with singular corners."""
    values = values[np.isfinite(values)]
    if not values.size:
        return 0.0, 1.0
    low, high = np.quantile(values, (0.002, 0.998))
    return float(low), float(high) if high > low else float(low) + max(abs(float(low)), 1e-30)
