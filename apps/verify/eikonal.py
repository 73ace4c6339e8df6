# SPDX-License-Identifier: Apache-2.0
"""Checks of ossatura eikonal: each time is the least that the tetrahedra of its vertex, and its sites, allow."""
import itertools
import os

import numpy

from files import pick, require

# A corner of a tetrahedron, and another, an edge, or the face, that a wave comes through.
WAYS = [(k, *way) for k in range(4) for size in (1, 2, 3) for way in itertools.combinations({0, 1, 2, 3} - {k}, size)]


def check(run, report):
    fields = run.fields()
    tags, conducts = fields["tag"], fields.get("conducts", numpy.ones(len(fields.types))) > 0
    cell, tag = fields.cell[conducts], tags[conducts]
    report.same("vertices, tetrahedra", [len(fields.point), len(tags)], pick(run.problem, "vertices tetrahedra"), 0)
    report.same("non-conducting tetrahedra", (~conducts).sum(), run.problem["non_conducting_tetrahedra"], 0)
    report.same("tags", numpy.stack(numpy.unique(tags, return_counts=True), axis=1),
                sorted(pick(one, "tag tetrahedra") for one in run.problem["tissues"]), 0)
    for said in run.results["activation"]:
        of_set = "_" + said["set"] if said["set"] else ""
        time, label = fields["activation_time" + of_set], of_set.replace("_", " of ", 1)
        time[numpy.isnan(time) if run.results["unreached_mark"] == "nan" else time == -1] = numpy.inf
        check_statistics(report, said, cell, tag, time, label)
        with report.part("times"):
            check_times(run, report, said, fields.point, cell, travel_maps(run, fields, tag, conducts), time, label)


def travel_maps(run, fields, tag, conducts):
    """[m, 3, 3] of conducting tetrahedra: the length of its product with a path is the travel time."""
    known = {one["tag"]: numpy.reshape(pick(one, "vl vt vn"), (3, -1)) for one in run.problem["tissues"]}
    require(all((numpy.ptp(velocity, axis=1) == 0).all() for velocity in known.values()),
            "times", "velocities of each tetrahedron are not in the file")
    velocity = numpy.array([known[t][:, 0] for t in tag.tolist()])
    fibre, sheet = (fields[name][conducts] if run.problem[name + "s"] else numpy.zeros(velocity.shape)
                    for name in ("fibre", "sheet"))
    bare = ~fibre.any(axis=1)
    velocity[bare], fibre[bare] = velocity[bare][:, :1], [1, 0, 0]  # isotropic
    f = fibre / numpy.linalg.norm(fibre, axis=1)[:, None]
    s = sheet - (sheet * f).sum(axis=1)[:, None] * f
    bare = numpy.linalg.norm(s, axis=1) <= 1e-6 * numpy.linalg.norm(sheet, axis=1)
    velocity[bare, 2], s[bare] = velocity[bare, 1], numpy.cross(f, numpy.eye(3)[abs(f).argmin(axis=1)])[bare]
    s /= numpy.linalg.norm(s, axis=1)[:, None]
    return numpy.stack([f, s, numpy.cross(f, s)], axis=1) / velocity[:, :, None]


def updates(cell, point, travel, time):
    """Fermat's principle: the least time of waves through the tetrahedra of each vertex, on whose faces times are
    linear. With travel times as lengths the time through a place is convex: the least is where the slowness, a unit
    vector, has the rises of times along a face or an edge, or in a corner."""
    best = numpy.full(len(time), numpy.inf)
    x, t = point[cell] @ travel.swapaxes(1, 2), numpy.minimum(time[cell], 1e30)  # no wave comes from there
    for target, start, *ends in WAYS:
        edge, rise, to = x[:, ends] - x[:, [start]], t[:, ends] - t[:, [start]], x[:, target] - x[:, start]
        dual = numpy.linalg.solve(edge @ edge.swapaxes(1, 2), edge)  # its products with edges are 1 and 0
        slope = numpy.einsum("nk,nki->ni", rise, dual)
        along = numpy.einsum("nj,nkj,nki->ni", to, edge, dual)
        height, rest = numpy.linalg.norm(to - along, axis=1), 1 - (slope ** 2).sum(axis=1)
        across = numpy.sqrt(numpy.where(rest > 0, rest, numpy.nan))
        place = numpy.einsum("nki,ni->nk", dual, along - (height / across)[:, None] * slope)
        through = (rest > 0) & (place >= 0).all(axis=1) & (place.sum(axis=1) <= 1)
        arrival = numpy.where(through, t[:, start] + (slope * to).sum(axis=1) + across * height, numpy.inf)
        numpy.minimum.at(best, cell[:, target], arrival)
    return numpy.where(best < 1e29, best, numpy.inf)


def vertices_of(run, site, point):
    """The vertices of PLACE[@t=MS]."""
    kind, _, rest = site.split("@t=")[0].partition(":")
    if kind == "vtx":
        folders = ["", *(os.path.dirname(one["path"]) for one in run.provenance["inputs"])]
        path = next(filter(None, (run.find(os.path.join(folder, rest), True) for folder in folders)), None)
        require(path, "times", "a list of vertices is not there any more")
        return numpy.loadtxt(path, int, skiprows=2, ndmin=1)
    numbers = numpy.array(rest.split(","), float)
    if kind == "vertices":
        return numbers.astype(int)
    # What lies on the surface is inside: of coordinates with six digits, or in single precision.
    size = numpy.linalg.norm(numpy.ptp(point, axis=0))
    slack = 1e-6 * size + min(2.0 ** -22 * abs(point).max(), 1e-4 * size)
    if kind == "box":
        low, high = numpy.sort(numbers.reshape(2, 3), axis=0)
        return numpy.flatnonzero(((point >= low - slack) & (point <= high + slack)).all(axis=1))
    distance = numpy.linalg.norm(point - numbers[:3], axis=1)
    return numpy.array([distance.argmin()]) if kind == "point" else numpy.flatnonzero(distance <= numbers[3] + slack)


def check_times(run, report, said, point, cell, travel, time, label):
    sites, start = said["sites"], numpy.full(len(time), numpy.inf)
    places = [vertices_of(run, site["site"], point) for site in sites]
    bare = numpy.setdiff1d(numpy.arange(len(time)), cell)  # no wave starts in tissue that does not conduct
    blocked = [numpy.isin(place, bare).sum() for place in places]
    report.same("vertices of sites" + label, [*map(len, places), *blocked],
                [one["vertices"] + one["non_conducting_vertices"] for one in sites] +
                [one["non_conducting_vertices"] for one in sites], 0)
    for place, site in zip(places, sites):
        start[place] = numpy.minimum(start[place], site["time"])
    start[bare] = numpy.inf
    least = numpy.minimum(start, updates(cell, point, travel, time))
    reached = numpy.isfinite(time)
    report.true("unreached vertices" + label, (reached == numpy.isfinite(least)).all())
    time, least = time[reached & numpy.isfinite(least)], least[reached & numpy.isfinite(least)]
    single = run.options["precision"] == "single"
    bound = 3 * min(run.results["certificate"], 0.01)  # beyond 0.01 a run ends with exit 3
    bound += 5e-7 if single else 1e-12
    # of the duration, and the rounding of a time and of those that it is computed from
    size = time - min(site["time"] for site in sites) + abs(time) * 2.0 ** (-23 if single else -52) / bound
    error = (time - least) / numpy.where(size > 0, size, 1)
    report.bound("times above the least" + label, error.max(initial=0), bound)
    report.bound("times below the least" + label, error.min(initial=0), bound)


def check_statistics(report, said, cell, tag, time, label):
    tags = [(f"tag {one['tag']}", one, cell[tag == one["tag"]]) for one in said["tags"]]
    for name, one, vertices in [("all", said, cell), *tags]:
        times = time[numpy.unique(vertices)]
        reached = times[numpy.isfinite(times)]
        report.same(f"{name}: vertices, reached" + label, [len(times), len(reached)], pick(one, "vertices reached"), 0)
        if len(reached):
            report.same(f"{name}: earliest, mean, latest" + label, [reached.min(), reached.mean(), reached.max()],
                        pick(one, "earliest mean latest"))
    report.same("total activation time" + label, (said["latest"] or 0) - (said["earliest"] or 0),
                said["total_activation_time"])
