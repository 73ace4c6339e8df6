# SPDX-License-Identifier: Apache-2.0
"""Checks of ossatura eikonal: each time is the least that the tetrahedra of its vertex, and its sites, allow."""
import os
import re

import numpy

from files import Fields


def check(run, report):
    path = run.output(".hdf")
    if path is None:
        report.skip("everything else", "no fields were written")
        return
    fields = Fields(path)
    conducts = fields.cells.get("conducts", numpy.ones(len(fields.types))) > 0
    cell, tag = fields.cell[conducts], fields.cells["tag"][conducts]
    report.same("vertices, tetrahedra", [len(fields.point), len(fields.cell)],
                [run.problem["vertices"], run.problem["tetrahedra"]], 0)
    report.same("non-conducting tetrahedra", (~conducts).sum(), run.problem["non_conducting_tetrahedra"], 0)
    report.true("tags", sorted([int(t), int((fields.cells["tag"] == t).sum())] for t in set(fields.cells["tag"]))
                == sorted([one["tag"], one["tetrahedra"]] for one in run.problem["tissues"]))
    travel = travel_maps(run, fields, tag, conducts)
    if travel is None:
        report.skip("times", "velocities of each tetrahedron are not in the file")
    for said in run.results["activation"]:
        name = "activation_time" + ("_" + said["set"] if said["set"] else "")
        time = fields[name]
        missing = numpy.isnan(time) if run.results["unreached_mark"] == "nan" else time == -1
        time[missing] = numpy.inf
        check_statistics(report, said, cell, tag, time)
        if travel is not None:
            single = fields.points[name].dtype == numpy.float32
            check_times(run, report, said, fields.point, cell, travel, time, 5e-7 if single else 1e-12)


def travel_maps(run, fields, tag, conducts):
    """[m, 3, 3] of conducting tetrahedra: the length of its product with a path is the travel time."""
    known = {one["tag"]: numpy.reshape([one["vl"], one["vt"], one["vn"]], (3, -1)) for one in run.problem["tissues"]}
    if any((numpy.ptp(velocity, axis=1) > 0).any() for velocity in known.values()):
        return None
    velocity = numpy.array([known[t][:, 0] for t in tag.tolist()])
    fibre = fields["fibre"][conducts] if run.problem["fibres"] else numpy.zeros(velocity.shape)
    sheet = fields["sheet"][conducts] if run.problem["sheets"] else numpy.zeros(velocity.shape)
    bare = ~fibre.any(axis=1)
    velocity[bare], fibre[bare] = velocity[bare][:, :1], [1, 0, 0]  # isotropic
    f = fibre / numpy.linalg.norm(fibre, axis=1)[:, None]
    s = sheet - (sheet * f).sum(axis=1)[:, None] * f
    bare = numpy.linalg.norm(s, axis=1) <= 1e-6 * numpy.linalg.norm(sheet, axis=1)
    velocity[bare, 2], s[bare] = velocity[bare, 1], numpy.cross(f, numpy.eye(3)[abs(f).argmin(axis=1)])[bare]
    s /= numpy.linalg.norm(s, axis=1)[:, None]
    return numpy.stack([f, s, numpy.cross(f, s)], axis=1) / velocity[:, :, None]


def dot(a, b):
    return (a * b).sum(axis=1)


def arrivals(x, t, d):
    """Fermat's principle: the least time at d [n, 3] of waves through triangles x [n, 3, 3], on which times
    are linear with the values t [n, 3]; lengths are travel times."""
    best = numpy.full(len(t), numpy.inf)
    for a, b in ((0, 1), (1, 2), (2, 0)):  # through the edges, ends included
        size = numpy.linalg.norm(x[:, b] - x[:, a], axis=1)
        along = dot(d - x[:, a], x[:, b] - x[:, a]) / size
        across = numpy.sqrt(numpy.maximum(dot(d - x[:, a], d - x[:, a]) - along ** 2, 0))
        slope = (t[:, b] - t[:, a]) / size  # the time grows by at most 1 along a ray
        place = along - across * slope / numpy.sqrt(numpy.maximum(1 - slope ** 2, 1e-300))
        place = numpy.clip(numpy.where(abs(slope) < 1, place, numpy.where(slope > 0, 0, size)), 0, size)
        best = numpy.minimum(best, t[:, a] + slope * place + numpy.hypot(along - place, across))
    # Through the inside: the slowness is a unit vector whose products with the edges are the rises.
    e1, e2, to = x[:, 1] - x[:, 0], x[:, 2] - x[:, 0], d - x[:, 0]
    normal = numpy.cross(e1, e2)
    area = dot(normal, normal)[:, None]
    dual1, dual2 = numpy.cross(e2, normal) / area, numpy.cross(normal, e1) / area
    tangent = (t[:, 1:2] - t[:, :1]) * dual1 + (t[:, 2:] - t[:, :1]) * dual2
    rest = 1 - dot(tangent, tangent)
    normal *= numpy.sign(dot(to, normal))[:, None] / numpy.sqrt(area)
    wave = tangent + numpy.sqrt(numpy.maximum(rest, 0))[:, None] * normal
    foot = to - (dot(to, normal) / numpy.sqrt(numpy.maximum(rest, 1e-300)))[:, None] * wave
    l1, l2 = dot(foot, dual1), dot(foot, dual2)
    return numpy.where((rest > 0) & (l1 >= 0) & (l2 >= 0) & (l1 + l2 <= 1), t[:, 0] + dot(wave, to), best)


def updates(cell, point, travel, time):
    """The least time that its tetrahedra allow, of each vertex."""
    best = numpy.full(len(time), numpy.inf)
    corner = (travel[:, None] @ point[cell][..., None])[..., 0]
    known = numpy.minimum(time[cell], 1e30)  # no wave comes from there
    for k in range(4):
        others = [i for i in range(4) if i != k]
        numpy.minimum.at(best, cell[:, k], arrivals(corner[:, others], known[:, others], corner[:, k]))
    return numpy.where(best < 1e29, best, numpy.inf)


def vertices_of(run, site, point):
    """The vertices of PLACE[@t=MS]; None where its list is not there any more."""
    kind, _, rest = re.sub("@t=.*", "", site).partition(":")
    if kind == "vtx":
        folders = [os.path.dirname(one["path"]) for one in run.provenance["inputs"]]
        path = next(filter(None, (run.find(os.path.join(folder, rest), True) for folder in ["", *folders])), None)
        return None if path is None else numpy.loadtxt(path, int, skiprows=2, ndmin=1)
    numbers = numpy.array(rest.split(","), float)
    if kind == "vertices":
        return numbers.astype(int)
    distance = numpy.linalg.norm(point - numbers[:3], axis=1)
    if kind in ("point", "sphere"):
        return numpy.array([distance.argmin()]) if kind == "point" else numpy.flatnonzero(distance <= numbers[3])
    low, high = numpy.sort(numbers.reshape(2, 3), axis=0)
    return numpy.flatnonzero(((point >= low) & (point <= high)).all(axis=1))


def check_times(run, report, said, point, cell, travel, time, rounding):
    label, start = f" of {said['set']}" if said["set"] else "", numpy.full(len(time), numpy.inf)
    places = [vertices_of(run, site["site"], point) for site in said["sites"]]
    if any(place is None for place in places):
        report.skip("times" + label, "a list of vertices is not there any more")
        return
    report.same("vertices of sites" + label, [len(place) for place in places],
                [site["vertices"] for site in said["sites"]], 0)
    for place, site in zip(places, said["sites"]):
        start[place] = numpy.minimum(start[place], site["time"])
    start[numpy.setdiff1d(numpy.arange(len(time)), cell)] = numpy.inf
    least = numpy.minimum(start, updates(cell, point, travel, time))
    both = numpy.isfinite(time) & numpy.isfinite(least)
    report.true("unreached vertices" + label, (both == (numpy.isfinite(time) | numpy.isfinite(least))).all())
    size = numpy.maximum(abs(time[both]), time[both] - min(site["time"] for site in said["sites"]))
    error = (time[both] - least[both]) / numpy.where(size > 0, size, 1)
    bound = 3 * min(run.results["certificate"], 0.01) + rounding  # beyond 0.01 a run ends with exit 3
    report.bound("times above the least" + label, error.max(initial=0), bound)
    report.bound("times below the least" + label, -error.min(initial=0), bound)


def check_statistics(report, said, cell, tag, time):
    label = f" of {said['set']}" if said["set"] else ""
    for name, one, vertices in [("all", said, numpy.unique(cell))] + [
            (f"tag {one['tag']}", one, numpy.unique(cell[tag == one["tag"]])) for one in said["tags"]]:
        reached = time[vertices][numpy.isfinite(time[vertices])]
        found = [reached.min(), reached.mean(), reached.max()] if len(reached) else [None, None, None]
        report.same(f"{name}: vertices, reached" + label, [len(vertices), len(reached)], [one["vertices"], one["reached"]], 0)
        if len(reached):
            report.same(f"{name}: earliest, mean, latest" + label, found, [one["earliest"], one["mean"], one["latest"]])
    report.same("total activation time" + label, (said["latest"] or 0) - (said["earliest"] or 0),
                said["total_activation_time"])
