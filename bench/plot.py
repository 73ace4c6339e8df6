#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figures (PNG) of results of ossatura_bench.

    plot.py result.json -o figures
    plot.py strong-1.json strong-2.json strong-4.json weak-1.json weak-2.json weak-4.json -o figures

  roofline_<backend>.png   every kernel with a cost model, at its best size, below the ceilings that
                           the same process measured
  speed_<group>.png        rates over the size, by variant
  time_<group>.png         time to solution with its set-up, at the largest size
  strong.png, weak.png     these alone where the files are of several numbers of OpenMP threads
                           (scaling.sh)

Needs matplotlib: pip install matplotlib, or Debian's python3-matplotlib. Rows that stand in several
files of one number of threads are taken from the last.
Exit codes: 0; 1 without matplotlib or where there is nothing to draw; 2 usage; 5 unreadable file.
"""

import argparse
import math
import os
import re
import sys

from results import load

try:
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    sys.stderr.write("plot.py: needs matplotlib: pip install matplotlib, or Debian's "
                     "python3-matplotlib\n")
    sys.exit(1)

# Okabe and Ito's colours without yellow, which is too light for lines.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
STYLES = ["-", "--", ":"]
GREY = "#BBBBBB"

FAMILIES = [
    ("voxels", ("voxel_apply", "voxel_residual", "voxel_smoothing_step")),
    ("voxels: transfers and peers", ("voxel_multigrid", "peers")),
    ("hexahedra", ("hexa_apply",)),
    ("soft bodies", ("soft_assembly", "soft_multiply")),
    ("factors of soft bodies", ("factor_apply",)),
    ("high order", ("pfem_form", "pfem_apply")),
]
EXTENTS = [("dofs", "degrees of freedom"), ("tetrahedra", "tetrahedra"), ("elements", "elements")]
RATES = ["dofs/s", "elem/s", "matrices/s", "solves/s"]
SOLVES = {"voxel_solve", "hexa_solve", "design_step", "design_frequencies", "pfem_solve", "eikonal"}
BACKENDS = ("serial", "openmp", "cuda", "host")

plt.rcParams.update({
    "font.size": 8, "axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": 9,
    "axes.titlelocation": "left", "legend.frameon": False, "savefig.dpi": 150,
    "lines.linewidth": 1.4, "lines.markersize": 4})


class Parsed:
    """The parts of a row's name: group/variant.../backend/precision.../model:size[/p:order]."""

    def __init__(self, row):
        self.row = row
        parts = row.name.split("/")
        self.group = parts[0]
        place = next((i for i, part in enumerate(parts) if part in BACKENDS), None)
        self.backend = parts[place] if place else ""
        self.variant = "/".join(parts[1:place]) if place else parts[-1]
        rest = parts[place + 1:] if place else []
        self.precision = rest.pop(0) if rest and rest[0] in (
            "f64", "f32", "double", "mixed", "lean") else ""
        numbers = re.findall(r":(\d+)", "/".join(rest))
        # Along an axis, or what else stands last in the name; the order of elements where it does.
        self.size = int(numbers[-1]) if numbers else 0
        self.is_order = bool(rest) and rest[-1].startswith("p:")
        if self.is_order:
            rest.pop()
        self.model = re.sub(r":\d+|^\d+$", "", "/".join(rest))

    def extent(self):
        """(how large the problem is, in what); orders of elements are no size."""
        if self.is_order:
            return self.size, "order p"
        for counter, unit in EXTENTS:
            if self.row.values(counter):
                return self.row.median(counter), unit
        return self.size, "size"


def parsed(rows):
    return [Parsed(row) for row in rows.values() if row.values("time")]


def number(context, key):
    try:
        return float(context[key])
    except (KeyError, ValueError):
        return None


def save(figure, folder, name, written):
    path = os.path.join(folder, name)
    figure.savefig(path)
    plt.close(figure)
    written.append(path)


def spread_labels(axes, labels, gap=9):
    """Texts (x, y, text, colour) right of their points, moved up and down until none overlap."""
    if not labels:
        return
    pixels_per_point = axes.figure.dpi / 72
    placed = sorted(([axes.transData.transform((x, y))[1], x, y, text, colour]
                     for x, y, text, colour in labels), key=lambda label: label[0])
    for _ in range(200):
        moved = False
        for lower, upper in zip(placed, placed[1:]):
            missing = gap * pixels_per_point - (upper[0] - lower[0])
            if missing > 0.1:
                lower[0] -= missing / 2
                upper[0] += missing / 2
                moved = True
        if not moved:
            break
    right = max(x for x, *_ in labels)
    for height, _, y, text, colour in placed:
        shift = (height - axes.transData.transform((right, y))[1]) / pixels_per_point
        axes.annotate(text, (right, y), xytext=(6, shift), textcoords="offset points",
                      va="center", fontsize=7, color=colour, annotation_clip=False)


def place_labels(axes, labels):
    """Texts (x, y, text, colour) beside their points, the first of eight places that is free; what
    finds none gets a thin line to a free place further away."""
    figure = axes.figure
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    scale = figure.dpi / 72
    points = [axes.transData.transform((x, y)) for x, y, *_ in labels]
    frame = axes.get_window_extent(renderer)
    taken = []
    for (x, y, text, colour), (px, py) in zip(labels, points):
        for distance in (5, 12, 20, 30, 42, 56, 72):
            found = False
            for angle in (0, 180, 90, 270, 45, 135, 225, 315):
                dx = distance * math.cos(math.radians(angle))
                dy = distance * math.sin(math.radians(angle))
                align = "left" if dx > 1 else "right" if dx < -1 else "center"
                label = axes.annotate(text, (x, y), xytext=(dx, dy), textcoords="offset points",
                                      ha=align, va="center", fontsize=6.5, color=colour)
                box = label.get_window_extent(renderer).padded(0.6 * scale)
                free = (frame.x0 <= box.x0 and box.x1 <= frame.x1 + 40 * scale and
                        frame.y0 <= box.y0 and box.y1 <= frame.y1 and
                        not any(box.overlaps(other) for other in taken) and
                        not any(box.x0 < qx < box.x1 and box.y0 < qy < box.y1
                                for qx, qy in points))
                if free:
                    taken.append(box)
                    if distance > 12:
                        axes.annotate("", (x, y), xytext=(dx, dy), textcoords="offset points",
                                      arrowprops={"arrowstyle": "-", "lw": 0.4, "color": colour})
                    found = True
                    break
                label.remove()
            if found:
                break


def best_rows(rows, backend):
    """For each kernel the row nearest to its ceiling."""
    best = {}
    for row in rows:
        if row.backend != backend or not row.row.values("flops/byte") or \
                not row.row.values("GFLOP/s"):
            continue
        if not row.row.median("flops/byte") > 0 or not row.row.median("GFLOP/s") > 0:
            continue
        key = (row.group, row.variant, row.precision)
        if key not in best or row.row.median("of_ceiling") > best[key].row.median("of_ceiling"):
            best[key] = row
    return list(best.values())


def draw_roofs(axes, copy, roofs, left, right):
    for name, fma in roofs:
        ridge = fma / copy
        axes.plot([left, ridge, right], [left * copy, fma, fma], color="#666666", lw=1,
                  ls="-" if name == "f64" else "--", zorder=1)
        axes.annotate(f"{name} {fma:.3g} GFLOP/s", (right, fma), xytext=(-2, 3),
                      textcoords="offset points", ha="right", fontsize=6.5, color="#666666")


def roofline(context, rows, backend, folder, written):
    copy = number(context, f"{backend} copy GB/s")
    roofs = [(name, number(context, f"{backend} fma {name} GFLOP/s")) for name in ("f64", "f32")]
    kernels = best_rows(rows, backend)
    if not kernels or not copy or not all(fma for _, fma in roofs):
        return
    present = [(title, [k for k in kernels if k.group in groups]) for title, groups in FAMILIES]
    present = [(title, own) for title, own in present if own]
    at = [(k.row.median("flops/byte"), k.row.median("GFLOP/s")) for k in kernels]
    left, right = min(x for x, _ in at) / 2.5, max(max(x for x, _ in at), roofs[1][1] / copy) * 4
    low = min(y for _, y in at) / 3
    columns = min(len(present), 2)
    lines = math.ceil(len(present) / columns)
    figure, grid = plt.subplots(lines, columns, figsize=(6.2 * columns, 4.2 * lines + 0.6),
                                sharex=True, sharey=True, squeeze=False, layout="constrained")
    device = context.get(f"{backend} device", backend)
    quick = ", --quick: rates mean nothing" if context.get("quick", "no") != "no" else ""
    figure.suptitle(f"{device} ({backend}): copy {copy:.4g} GB/s{quick}", x=0.01, ha="left",
                    fontsize=10)
    for axes in grid.flat[len(present):]:
        axes.set_visible(False)
    for panel, (axes, (title, own)) in enumerate(zip(grid.flat, present)):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(left, right)
        axes.set_ylim(low, roofs[1][1] * 2)
        draw_roofs(axes, copy, roofs, left, right)
        axes.scatter([x for x, _ in at], [y for _, y in at], s=6, color=GREY, zorder=2, lw=0)
        groups = list(dict.fromkeys(k.group for k in own))
        labels = []
        for kernel in own:
            colour = COLOURS[groups.index(kernel.group)]
            x, y = kernel.row.median("flops/byte"), kernel.row.median("GFLOP/s")
            single = kernel.precision == "f32" or "fp32" in kernel.variant
            axes.scatter([x], [y], s=20, zorder=3, lw=1, edgecolors=colour,
                         facecolors="none" if single else colour)
            labels.append((x, y, kernel.variant, colour))
        axes.set_title(title)
        for place, group in enumerate(reversed(groups)):
            axes.annotate(group, (0.98, 0.03 + 0.05 * place), xycoords="axes fraction", ha="right",
                          fontsize=8, color=COLOURS[groups.index(group)], weight="bold")
        if panel == 0:
            axes.annotate("filled: f64, open: f32, grey: all other kernels",
                          (0.98, 0.04 + 0.05 * len(groups)), xycoords="axes fraction", ha="right",
                          fontsize=7, color="#666666")
        axes.kernel_labels = labels
    for axes in grid[-1]:
        axes.set_xlabel("flops per byte")
    for axes in grid[:, 0]:
        axes.set_ylabel("GFLOP/s")
    figure.canvas.draw()
    figure.set_layout_engine("none")
    for axes in grid.flat[:len(present)]:
        place_labels(axes, axes.kernel_labels)
    save(figure, folder, f"roofline_{backend}.png", written)


def styles(variants):
    """A colour and a line style for each."""
    return {variant: (COLOURS[i % len(COLOURS)], STYLES[i // len(COLOURS) % len(STYLES)])
            for i, variant in enumerate(variants)}


def rate_of(row):
    for rate in RATES:
        if row.row.values(rate):
            return rate
    return None


def speed(context, rows, group, folder, written):
    own = [row for row in rows if row.group == group and rate_of(row)]
    curves = {}
    for row in own:
        panel = (row.model, " ".join(part for part in (row.backend, row.precision) if part))
        curves.setdefault(panel, {}).setdefault(row.variant, []).append(row)
    curves = {panel: lines for panel, lines in curves.items()
              if any(len({row.size for row in line}) > 1 for line in lines.values())}
    if not curves:
        return
    models = list(dict.fromkeys(model for model, _ in curves))
    places = list(dict.fromkeys(place for _, place in curves))
    style = styles(list(dict.fromkeys(row.variant for row in own)))
    rate = rate_of(own[0])
    figure, grid = plt.subplots(len(models), len(places), squeeze=False, sharex="row",
                                sharey="row", figsize=(3.9 * len(places) + 0.4,
                                                       3.1 * len(models) + 0.4),
                                layout="constrained")
    figure.suptitle(f"{group}, median of the repetitions"
                    + (", --quick: rates mean nothing" if context.get("quick", "no") != "no"
                       else ""), x=0.01, ha="left", fontsize=10)
    drawn = []
    for i, model in enumerate(models):
        for j, place in enumerate(places):
            axes = grid[i][j]
            if (model, place) not in curves:
                axes.set_visible(False)
                continue
            labels = []
            for variant, line in curves[(model, place)].items():
                line.sort(key=Parsed.extent)
                x = [row.extent()[0] for row in line]
                y = [row.row.median(rate) for row in line]
                unit = line[0].extent()[1]
                colour, dashes = style[variant]
                axes.plot(x, y, color=colour, ls=dashes, marker="o")
                labels.append((x[-1], y[-1], variant or group, colour))
            axes.set_yscale("log")
            if unit != "order p":
                axes.set_xscale("log")
            axes.set_xlabel(unit)
            axes.set_title(f"{model} {place}" if model else place)
            drawn.append((axes, labels))
        grid[i][0].set_ylabel(rate)
    make_room_for_labels(figure, drawn)
    save(figure, folder, f"speed_{group}.png", written)


def make_room_for_labels(figure, drawn):
    """Widens the panels to the right by what the labels take, and places these."""
    figure.canvas.draw()
    longest = max((len(text) for _, labels in drawn for _, _, text, _ in labels), default=0)
    for axes, _ in drawn:
        low, high = axes.get_xlim()
        width = axes.get_window_extent().width / (figure.dpi / 72)
        part = min(0.6, (8 + 3.9 * longest) / width)
        if axes.get_xscale() == "log":
            axes.set_xlim(low, low * (high / low) ** (1 / (1 - part)))
        else:
            axes.set_xlim(low, low + (high - low) / (1 - part))
    figure.canvas.draw()
    figure.set_layout_engine("none")
    for axes, labels in drawn:
        spread_labels(axes, labels)


def solution(context, rows, group, folder, written):
    own = [row for row in rows if row.group == group and row.row.values("setup_s")]
    largest = {}
    for row in own:
        key = (row.variant, row.backend, row.precision, row.model)
        if key not in largest or row.extent() > largest[key].extent():
            largest[key] = row
    panels = {}
    for row in largest.values():
        panels.setdefault((row.backend, row.model, row.size), []).append(row)
    if not panels:
        return
    heights = [max(len(bars), 3) for bars in panels.values()]
    figure, grid = plt.subplots(len(panels), 1, squeeze=False, layout="constrained",
                                figsize=(7.5, 0.2 * sum(heights) + 0.75 * len(panels) + 0.5),
                                gridspec_kw={"height_ratios": heights})
    quick = ", --quick: rates mean nothing" if context.get("quick", "no") != "no" else ""
    figure.suptitle(f"{group}: set-up (light) and solve (dark){quick}", x=0.01, ha="left",
                    fontsize=10)
    for axes, ((backend, model, size), bars) in zip(grid.flat, panels.items()):
        def parts(row):
            return (row.row.median("setup_s") + (row.row.median("prepare_s") or 0),
                    row.row.median("time"))
        bars.sort(key=lambda row: sum(parts(row)), reverse=True)
        names = [" ".join(part for part in (row.variant, row.precision) if part) for row in bars]
        setup = [parts(row)[0] for row in bars]
        solve = [parts(row)[1] for row in bars]
        axes.barh(names, setup, color="#56B4E9", height=0.7)
        axes.barh(names, solve, left=setup, color="#0072B2", height=0.7)
        for place, row in enumerate(bars):
            axes.annotate(f"{sum(parts(row)):.3g}", (sum(parts(row)), place), xytext=(3, 0),
                          textcoords="offset points", va="center", fontsize=7)
        number_of, unit = bars[0].extent()
        named = f"p = {size}" if bars[0].is_order else f"{model}:{size}, {number_of:.3g} {unit}"
        axes.set_title(f"{backend}, {named}")
        axes.tick_params(axis="y", length=0)
        axes.margins(y=0.02)
    grid[-1][0].set_xlabel("seconds")
    save(figure, folder, f"time_{group}.png", written)


def threads_of(context):
    return int(number(context, "openmp threads") or 0)


def scaling_curves(results):
    """Strong: {row: {threads: seconds}} of rows at two or more numbers of threads. Weak: {kernel:
    {threads: seconds}} of kernels with one size for each number of threads, the more the larger."""
    by_name, by_kernel = {}, {}
    for context, rows in results:
        threads = threads_of(context)
        for row in parsed(rows):
            if row.backend != "openmp" or threads == 0:
                continue
            by_name.setdefault(row.row.name, {})[threads] = row.row.median("time")
            key = " ".join((row.group, row.variant, row.precision, row.model))
            by_kernel.setdefault(key, {}).setdefault(threads, {})[row.size] = row
    strong = {name: times for name, times in by_name.items() if len(times) > 1}
    weak = {}
    for kernel, by_threads in by_kernel.items():
        # Sizes of strong scaling are in all files, those of weak scaling in one each.
        shared = [size for sizes in by_threads.values() for size in sizes]
        curve, last = {}, 0
        for threads in sorted(by_threads):
            own = [size for size in by_threads[threads]
                   if shared.count(size) == 1 or threads == min(by_threads)]
            own = [size for size in own if size > last] if last else own
            if own:
                last = own[0] if last else min(by_threads[threads])
                curve[threads] = by_threads[threads][last]
        if len(curve) > 1:
            weak[kernel] = curve
    return strong, weak


def scaling(results, folder, written):
    strong, weak = scaling_curves(results)
    if strong:
        curves = {name: {t: times[min(times)] / times[t] for t in times}
                  for name, times in strong.items()}
        draw_scaling(curves, "strong scaling: the same problem", "speed-up", True, folder,
                     "strong.png", written)
    rates = {}
    for kernel, curve in weak.items():
        rate = rate_of(next(iter(curve.values())))
        if rate:
            per_thread = {t: row.row.median(rate) / t for t, row in curve.items()}
            rates[kernel] = {t: value / per_thread[min(per_thread)]
                             for t, value in per_thread.items()}
    if rates:
        draw_scaling(rates, "weak scaling: a problem as many times as large", "efficiency", False,
                     folder, "weak.png", written)


def draw_scaling(curves, title, label, ideal, folder, name, written):
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    style = styles(list(curves))
    labels = []
    for curve, values in curves.items():
        x = sorted(values)
        colour, dashes = style[curve]
        axes.plot(x, [values[t] for t in x], color=colour, ls=dashes, marker="o")
        labels.append((x[-1], values[x[-1]], curve.replace("/openmp", ""), colour))
    threads = sorted({t for values in curves.values() for t in values})
    first = threads[0]
    axes.plot(threads, [t / first if ideal else 1 for t in threads], color=GREY, lw=1, zorder=1)
    axes.set_xscale("log", base=2)
    if ideal:
        axes.set_yscale("log", base=2)
        axes.yaxis.set_major_formatter(matplotlib.ticker.ScalarFormatter())
    else:
        axes.set_ylim(0, 1.2 * max(1, max(v for values in curves.values() for v in values.values())))
    axes.set_xticks(threads, [str(t) for t in threads])
    axes.minorticks_off()
    axes.set_xlabel("OpenMP threads")
    axes.set_ylabel(f"{label} over {first} thread{'s' if first > 1 else ''}")
    axes.set_title(title + " (grey: ideal)")
    make_room_for_labels(figure, [(axes, labels)])
    save(figure, folder, name, written)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", metavar="RESULT.json")
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="made if missing")
    arguments = parser.parse_args()
    results = [load(path, "plot.py") for path in arguments.results]
    try:
        os.makedirs(arguments.output, exist_ok=True)
    except OSError as error:
        parser.error(f"-o: {error}")

    written = []
    if len({threads_of(context) for context, _ in results} - {0}) > 1:
        scaling(results, arguments.output, written)
    else:
        context, rows = {}, {}
        for own_context, own_rows in results:
            context.update(own_context)
            rows.update(own_rows)
        names = parsed(rows)
        for backend in BACKENDS:
            roofline(context, names, backend, arguments.output, written)
        for group in dict.fromkeys(row.group for row in names):
            if group in SOLVES:
                solution(context, names, group, arguments.output, written)
            speed(context, names, group, arguments.output, written)
    for path in written:
        print(path)
    if not written:
        sys.stderr.write("plot.py: nothing to draw: no row has a cost model, sizes or a set-up\n")
        sys.exit(1)


if __name__ == "__main__":
    main()
