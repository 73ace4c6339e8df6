#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an iteration of bone would take on up to 1024 GPUs: a model of times on cuts as they are.

    ossatura_bench run scaling/cut/ --sizes=550 --backends=openmp --repetitions=1 --min-time=0 --output=cut.json
    scaling_model.py cut.json -o docs/pictures/scaling.png

Nodes, ghosts and neighbours of each level come from cut.json, the rest from the constants below, which say where
they were measured. Prints the tables of docs/performance/scaling.md; with -o draws them, for which it needs matplotlib.
Exit codes: 0; 1 without matplotlib; 2 usage; 5 unreadable file, or one without the rows.
"""

import argparse
import math
import re
import sys

from results import load

# Two H100 of one host, NCCL 2.28 over NVLink; `planned` are launch graphs, as measured alone, and 60 % of the
# exchanges of level 0 beside the product.
NODE = 0.33e-9  # s for a node of a coarse level, each visit
DOF = {0.113e9: 94e-12, 0.8e9: 78e-12, 3e9: 71e-12}  # s for a degree of freedom of the voxels, an iteration
# A visit of a coarse level beside that: so that the model gives the 16.7 ms an iteration of 113 M that one H100 takes
# where it cuts the model for itself, and the 15.9 where it does not, by launch graphs and a resident kernel.
VISIT = {"now": 38e-6, "planned": 25e-6}
DIRECT_NODES = 1500  # of the coarsest level, on devices
LATENCY = {"now": 14e-6, "planned": 8e-6}  # of an exchange with one neighbour
RATE = 110e9  # bytes/s of an exchange
HIDDEN = {"now": 0.0, "planned": 0.6}  # of the exchanges of level 0
SUM = 6e-6  # an all-reduce of two ranks, for each doubling
READ = 30e-6  # the norm on the host, once an iteration
# Assumed: eight GPUs a host, and between hosts one port of 400 Gbit/s a GPU.
HOST = 8
FAR_LATENCY, FAR_RATE = 10e-6, 40e9
MESSAGE = 0.5e-6  # each further neighbour
MOST_SUPERBLOCKS = 200_000  # of a level that every rank has

PAPER = {1: 1.0, 2: 0.86, 4: 0.72, 8: 0.57, 16: 0.40, 32: 0.24, 64: 0.14, 128: 0.07}  # [1], table 3: 112 M, K20x
RANKS = [2**k for k in range(11)]


class Cuts:
    """The cuts of the rows of a file."""

    def __init__(self, rows):
        self.by_ranks = {}
        for name, row in rows.items():
            found = re.match(r"scaling/cut/[a-z]+/perlin:\d+/ranks:(\d+)$", name)
            if found and row.median("nodes_0"):
                self.by_ranks[int(found.group(1))] = row
        row = self.by_ranks.get(1)
        if row is None or sorted(self.by_ranks) != RANKS:
            raise ValueError("it lacks rows scaling/cut of 1 to 1024 ranks of one size")
        self.nodes = [int(row.median(f"nodes_{l}")) for l in range(20) if row.median(f"nodes_{l}")]
        self.bits = int(row.median("bits"))
        self.superblocks = row.median("superblocks")

    def share(self, ranks, level):
        """Of a level that is cut: what the largest rank has of all nodes, its ghosts for each owned^(2/3), and its
        neighbours. Of a level that this size does not cut, as of the last it does."""
        row = self.by_ranks[ranks]
        l = min(level, self.bits - 1)
        owned = row.median(f"owned_{l}")
        return (row.median("owned_0") / self.nodes[0], row.median(f"ghosts_{l}") / owned ** (2 / 3),
                row.median(f"neighbours_{l}"))


class Model:
    """A model of `scale` times the nodes of the image that was cut."""

    def __init__(self, cuts, dofs, ranks, state):
        self.cuts, self.ranks, self.state = cuts, ranks, state
        scale = dofs / (3 * cuts.nodes[0])
        ratio = cuts.nodes[2] / cuts.nodes[1]
        self.nodes = [n * scale for n in cuts.nodes]
        while self.nodes[-1] > DIRECT_NODES:  # more levels below
            self.nodes.append(self.nodes[-1] * ratio)
        while len(self.nodes) > 2 and self.nodes[-2] <= DIRECT_NODES:
            self.nodes.pop()
        self.bits = cuts.bits + max(0, math.ceil(math.log(scale * cuts.superblocks / MOST_SUPERBLOCKS, 8)))
        size = min(DOF, key=lambda n: abs(math.log(dofs / ranks / n)))
        self.dof = DOF[size]

    def exchange(self, level):
        """Seconds of an exchange of a cut level."""
        share, ghosts, neighbours = self.cuts.share(self.ranks, level)
        owned = self.nodes[level] * share
        sent = 12 * ghosts * owned ** (2 / 3)
        far = self.ranks > HOST
        latency = LATENCY[self.state] + (FAR_LATENCY if far else 0) + MESSAGE * max(0, neighbours - 1)
        return latency + sent / (FAR_RATE if far else RATE)

    def parts(self):
        """Seconds of an iteration, by what they go to."""
        parts = dict.fromkeys(("voxels", "cut levels", "levels of all", "launches", "exchanges", "sums"), 0.0)
        share = self.cuts.share(self.ranks, 0)[0]
        parts["voxels"] = self.dof * 3 * self.nodes[0] * share
        if self.ranks > 1:
            parts["exchanges"] += 6 * self.exchange(0) * (1 - HIDDEN[self.state])
            parts["sums"] = 3 * SUM * math.log2(self.ranks) + READ
            # The right-hand side of the first level that all have.
            gathered = 12 * self.nodes[min(self.bits, len(self.nodes) - 1)]
            far = self.ranks > HOST
            parts["exchanges"] += 2 ** max(0, self.bits - 2) * (
                SUM * math.log2(self.ranks) + gathered / (FAR_RATE if far else RATE))
        for l in range(1, len(self.nodes)):
            visits = 2 ** (l - 1)
            parts["launches"] += visits * VISIT[self.state]
            if l < self.bits and self.ranks > 1:
                parts["cut levels"] += visits * NODE * self.nodes[l] * share
                parts["exchanges"] += 8 * visits * self.exchange(l)
            else:
                parts["levels of all" if l >= self.bits else "cut levels"] += visits * NODE * self.nodes[l]
        return parts

    def seconds(self):
        return sum(self.parts().values())


def strong(cuts, dofs, state):
    one = Model(cuts, dofs, 1, state).seconds()
    return {p: one / (p * Model(cuts, dofs, p, state).seconds()) for p in RANKS}


def weak(cuts, dofs, state):
    one = Model(cuts, dofs, 1, state).seconds()
    return {p: one / Model(cuts, dofs * p, p, state).seconds() for p in RANKS}


CURVES = (("strong", "113 M", strong, 0.113e9), ("strong", "3 G", strong, 3e9),
          ("weak", "113 M a GPU", weak, 0.113e9), ("weak", "0.8 G a GPU", weak, 0.8e9),
          ("weak", "3 G a GPU", weak, 3e9))


def print_tables(cuts):
    print("| ranks | nodes, most | ghosts by level, most | neighbours |\n|---|---|---|---|")
    for p in RANKS[1:]:
        row = cuts.by_ranks[p]
        ghosts = ", ".join(f"{row.median(f'ghosts_{l}') / 1000:.0f} k" for l in range(cuts.bits))
        print(f"| {p} | {row.median('owned_0') / 1000:,.0f} k | {ghosts} | {row.median('neighbours_0'):.0f} |")
    for state in VISIT:
        print(f"\n{state}\n\n| | " + " | ".join(map(str, RANKS[1:])) + " |\n|" + "---|" * len(RANKS))
        for kind, label, curve, dofs in CURVES:
            values = curve(cuts, dofs, state)
            print(f"| {kind}, {label} | " + " | ".join(f"{100 * values[p]:.0f}" for p in RANKS[1:]) + " |")
    print("\n| ms an iteration | " + " | ".join(Model(cuts, 0.113e9, 1, "now").parts()) + " | all |\n|" + "---|" * 8)
    for label, dofs, p in (("113 M on 1", 0.113e9, 1), ("113 M on 2", 0.113e9, 2), ("113 M on 8", 0.113e9, 8),
                           ("113 M on 64", 0.113e9, 64), ("0.8 G on 1", 0.8e9, 1), ("0.8 G each on 8", 6.4e9, 8),
                           ("0.8 G each on 64", 51.2e9, 64), ("0.8 G each on 1024", 819e9, 1024)):
        model = Model(cuts, dofs, p, "now")
        print(f"| {label} | " + " | ".join(f"{1e3 * value:.2f}" for value in model.parts().values())
              + f" | {1e3 * model.seconds():.1f} |")


def draw(cuts, path):
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        sys.stderr.write("scaling_model.py: needs matplotlib: pip install matplotlib, or Debian's python3-matplotlib\n")
        sys.exit(1)
    plt.rcParams.update({"font.size": 8, "axes.spines.top": False, "axes.spines.right": False,
                         "axes.titlelocation": "left", "legend.frameon": False, "savefig.dpi": 150})
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), sharey=True)
    colours = {"113 M": "#0072B2", "3 G": "#D55E00", "113 M a GPU": "#0072B2", "0.8 G a GPU": "#009E73",
               "3 G a GPU": "#D55E00"}
    for kind, label, curve, dofs in CURVES:
        panel = axes[0 if kind == "strong" else 1]
        for state, style in (("now", "-"), ("planned", "--")):
            values = curve(cuts, dofs, state)
            panel.plot(RANKS, [100 * values[p] for p in RANKS], style, color=colours[label],
                       label=label if state == "now" else None)
    axes[0].plot(list(PAPER), [100 * value for value in PAPER.values()], "o:", color="#999999", markersize=3,
                 label="112 M, K20x [1]")
    axes[0].plot([2], [76], "x", color="#000000", label="113 M, two H100 measured")
    for panel, title in zip(axes, ("Strong scaling", "Weak scaling")):
        panel.set_xscale("log", base=2)
        panel.set_xticks(RANKS[::2], [str(p) for p in RANKS[::2]])
        panel.set_ylim(0, 105)
        panel.set_xlabel("GPUs")
        panel.set_title(title)
        panel.legend(loc="upper right" if title.startswith("Strong") else "lower left")
    axes[0].set_ylabel("efficiency of an iteration, %; dashed: planned")
    figure.tight_layout()
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("-o", "--output", help="picture, PNG")
    arguments = parser.parse_args()
    _, rows = load(arguments.file, "scaling_model.py")
    try:
        cuts = Cuts(rows)
    except ValueError as error:
        sys.stderr.write(f"scaling_model.py: {arguments.file}: {error}\n")
        sys.exit(5)
    print_tables(cuts)
    if arguments.output:
        draw(cuts, arguments.output)


if __name__ == "__main__":
    main()
