#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A NAME.curve.csv of `ossatura bone --strength` as SVG: force over strain (in absolute values), the elastic line shifted
by the offset, and the yield and ultimate loads of the summary beside it. Standard library only.
  scripts/curve_picture.py out/strength/radius.curve.csv -o docs/pictures/strength.svg"""
import argparse
import csv
import json
import math

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 560, 340, 64, 46, 16, 18


def ticks(most):
    """At most six round numbers from 0 on."""
    step = 10 ** math.floor(math.log10(most / 5))
    step *= next(k for k in (1, 2, 5, 10) if most / (k * step) <= 5.5)
    return [k * step for k in range(int(most / step) + 1)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("curve")
    parser.add_argument("-o", "--output", required=True)
    arguments = parser.parse_args()
    with open(arguments.curve, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if not rows or not rows[0]["force"]:
        parser.error(f"{arguments.curve} has no forces: it is empty, or of torsion or bending")
    points = [(0.0, 0.0)] + [(abs(float(row["strain"])), abs(float(row["force"]))) for row in rows]
    with open(arguments.curve.replace(".curve.csv", ".summary.json"), encoding="utf-8") as file:
        strength = json.load(file)["results"]["strength"]
    most_strain, most_force = points[-1][0] * 1.02, max(force for _, force in points) * 1.12
    slope, offset = points[1][1] / points[1][0], strength["yield_offset"]

    def place(strain, force):
        return (LEFT + strain / most_strain * (WIDTH - LEFT - RIGHT),
                HEIGHT - BOTTOM - force / most_force * (HEIGHT - BOTTOM - TOP))

    def text(x, y, words, anchor="middle"):
        return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'

    x0, y0 = place(0, 0)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
             'font-size="12" fill="#333">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>']
    for strain in ticks(most_strain):
        x = place(strain, 0)[0]
        parts += [f'<path d="M{x:.1f} {TOP}V{y0:.1f}" stroke="#e4e4e4"/>', text(x, y0 + 18, f"{100 * strain:.3g}")]
    for force in ticks(most_force):
        y = place(0, force)[1]
        parts += [f'<path d="M{x0} {y:.1f}H{WIDTH - RIGHT}" stroke="#e4e4e4"/>', text(x0 - 8, y + 4, f"{force:.4g}", "end")]
    parts += [text((x0 + WIDTH - RIGHT) / 2, HEIGHT - 8, "strain, %"), text(x0 - 8, TOP + 2, "force, N", "end")]
    reach = min(most_strain, offset + most_force / slope)
    ends = place(offset, 0), place(reach, (reach - offset) * slope)
    parts.append('<path d="M{:.1f} {:.1f}L{:.1f} {:.1f}" stroke="#999" stroke-dasharray="5 4"/>'.format(*ends[0], *ends[1]))
    line = "L".join("{:.1f} {:.1f}".format(*place(*point)) for point in points)
    parts.append(f'<path d="M{line}" fill="none" stroke="#1f5fa8" stroke-width="2"/>')
    parts += ['<circle cx="{:.1f}" cy="{:.1f}" r="2.5" fill="#1f5fa8"/>'.format(*place(*point)) for point in points[1:]]
    for name in ("yield", "ultimate"):
        if name in strength:
            x, y = place(abs(strength[name]["strain"]), abs(strength[name]["force"]))
            parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="none" stroke="#b3401f" stroke-width="2"/>',
                      text(x - 8, y - 8, f"{name} load {abs(strength[name]['force']):.4g} N", "end")]
    with open(arguments.output, "w", encoding="utf-8") as file:
        file.write("\n".join(parts + ["</svg>"]) + "\n")


if __name__ == "__main__":
    main()
