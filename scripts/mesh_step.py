# SPDX-License-Identifier: Apache-2.0
"""Hexahedra from the solids of a STEP file, for `ossatura topopt`, with gmsh (pip install gmsh numpy):

    python3 scripts/mesh_step.py part.step --list
    python3 scripts/mesh_step.py part.step --size 1.5 --group bore=17,18 --group top=1 -o part.msh
    python3 scripts/mesh_step.py part.step --size 1.5 --group foot=box:-5,-5,0,5,5,0.1
    python3 scripts/mesh_step.py part.step --triangles > part.txt

gmsh fills the solids with tetrahedra of twice --size (in the file's unit, mm as a rule) and cuts
each into four hexahedra; the nodes inside are then moved until hexahedra are as well shaped as they
get. --list shows the surfaces by number with area, centre, normal and extent; --group makes a set
NAME of surfaces by number, or of those that lie in the box x0,y0,z0,x1,y1,z1, or of both (a
comma-separated list; --group may come up more than once). The .msh is Gmsh 4.1 with a physical
group for each set, and "body". Fails where a hexahedron is inside out at one of its 8 corners or
integration points.

--triangles prints the closed surface in its place, as `ossatura topopt` asks for it where a problem
has a STEP file: a line with the numbers of vertices and triangles, a line x y z for each vertex, and
a line a b c SURFACE for each triangle, vertices from 0, seen counter-clockwise from outside.
"""
import argparse
import os
import re
import sys

try:
    import numpy
    import gmsh
except (ImportError, OSError) as error:  # OSError: the system lacks a library that gmsh loads
    sys.exit(f"gmsh cannot be used: {error}\n"
             "pip install gmsh numpy; on a bare Debian also apt-get install libglu1-mesa libxrender1 "
             "libxcursor1 libxft2 libxinerama1")

TETRAHEDRON, QUADRANGLE, HEXAHEDRON = 4, 3, 5  # types of elements of gmsh
CORNERS = numpy.array([[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1],
                       [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]], float)
EDGES_AT = [[1, 3, 4], [2, 0, 5], [3, 1, 6], [0, 2, 7], [7, 5, 0], [4, 6, 1], [5, 7, 2], [6, 4, 3]]


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="STEP file (or .iges, .brep)")
    parser.add_argument("-o", "--output", help="default: FILE's name .msh")
    parser.add_argument("--list", action="store_true", help="list the surfaces and stop")
    parser.add_argument("--triangles", action="store_true", help="print the surface and stop")
    parser.add_argument("--size", type=float, help="mean edge of the hexahedra "
                        "(default: a fortieth of the diagonal)")
    parser.add_argument("--group", action="append", default=[], metavar="NAME=WHAT")
    parser.add_argument("--smooth", type=int, default=30, metavar="SWEEPS",
                        help="of the nodes inside (default: 30)")
    options = parser.parse_args()
    if options.size is not None and not options.size > 0:
        parser.error("--size: greater than 0")
    if options.smooth < 0:
        parser.error("--smooth: at least 0")
    options.groups = [parse_group(parser, text) for text in options.group]
    if len({name for name, _, _ in options.groups}) != len(options.groups):
        parser.error("--group: a name comes up twice")
    return options


def parse_group(parser, text):
    """(name, numbers of surfaces, box or None)."""
    name, _, what = text.partition("=")
    if not re.fullmatch(r"[A-Za-z_][\w.-]*", name) or name == "body" or not what:
        parser.error(f"--group {text}: expected a name, such as bore=17,18 or foot=box:0,0,0,9,9,1")
    numbers, _, box = what.partition("box:")
    try:
        numbers = [int(number) for number in numbers.split(",") if number]
        box = [float(x) for x in box.split(",")] if box else None
    except ValueError:
        parser.error(f"--group {text}: expected numbers")
    if box is not None and (len(box) != 6 or any(a > b for a, b in zip(box[:3], box[3:]))):
        parser.error(f"--group {text}: a box has a lower x,y,z and an upper x,y,z")
    return name, numbers, box


def surfaces():
    return [tag for _, tag in gmsh.model.getBoundary(gmsh.model.getEntities(3), oriented=False)]


def list_surfaces():
    print("surface  kind              area   centre                     normal              extent")
    for tag in surfaces():
        low, high = gmsh.model.getParametrizationBounds(2, tag)
        normal = gmsh.model.getNormal(tag, (low + high) / 2)
        box = gmsh.model.occ.getBoundingBox(2, tag)
        centre = gmsh.model.occ.getCenterOfMass(2, tag)
        print(f"{tag:7d}  {gmsh.model.getType(2, tag):15s}"
              f"{gmsh.model.occ.getMass(2, tag):8.2f}  " +
              " ".join(f"{x:8.2f}" for x in centre) + " " +
              " ".join(f"{x:6.2f}" for x in normal) + "  " +
              " ".join(f"{x:.2f}" for x in box))


def shells(triangles):
    """Turns neighbours of a closed surface alike; lists the numbers of the triangles that hang together."""
    at = {}
    for number, corners in enumerate(triangles):
        for k in range(3):
            at.setdefault(frozenset((corners[k], corners[k - 1])), []).append(number)
    if any(len(numbers) != 2 for numbers in at.values()):
        sys.exit("the surface of a solid is not closed: an edge has not two triangles")

    def has(corners, a, b):
        return any((corners[k], corners[(k + 1) % 3]) == (a, b) for k in range(3))

    seen, found = numpy.zeros(len(triangles), bool), []
    for first in range(len(triangles)):
        if seen[first]:
            continue
        seen[first], shell = True, [first]
        for number in shell:  # which grows
            corners = triangles[number]
            for k in range(3):
                a, b = corners[k], corners[(k + 1) % 3]
                one, two = at[frozenset((a, b))]
                other = two if one == number else one
                if seen[other]:
                    continue
                if has(triangles[other], a, b):
                    triangles[other] = triangles[other][::-1]
                seen[other] = True
                shell.append(other)
        found.append(shell)
    return found


def outside_out(points, triangles):
    """Turns the largest shell of a solid outward, all others, its cavities, inward."""
    def volume(shell):
        corner = points[triangles[shell]]
        return numpy.einsum("ij,ij", corner[:, 0], numpy.cross(corner[:, 1], corner[:, 2])) / 6

    triangles = numpy.array(triangles)
    parts = [numpy.array(shell) for shell in shells(triangles)]
    sizes = [volume(shell) for shell in parts]
    outer = max(range(len(parts)), key=lambda k: abs(sizes[k]))
    for k, shell in enumerate(parts):
        if (sizes[k] > 0) != (k == outer):
            triangles[shell] = triangles[shell][:, ::-1]
    return triangles


def print_triangles(write):
    """The surfaces of the solid, arcs in 48 chords a turn, which are 0.2 % of the radius off at most."""
    box = numpy.array(gmsh.model.getBoundingBox(-1, -1))
    gmsh.option.setNumber("Mesh.MeshSizeFromCurvature", 48)
    gmsh.option.setNumber("Mesh.MeshSizeMax", float(numpy.linalg.norm(box[3:] - box[:3])) / 10)
    gmsh.model.mesh.generate(2)
    tags, coordinates, _ = gmsh.model.mesh.getNodes()
    points = coordinates.reshape(-1, 3)
    place = numpy.full(int(tags.max()) + 1, -1)
    place[tags.astype(int)] = numpy.arange(len(tags))
    triangles, of = [], []
    for surface in surfaces():
        for _, _, nodes in zip(*gmsh.model.mesh.getElements(2, surface)):  # triangles alone
            corners = place[nodes.astype(int)].reshape(-1, 3)
            triangles.extend(corners)
            of.extend([surface] * len(corners))
    triangles = outside_out(points, triangles)
    write(f"{len(points)} {len(triangles)}\n")
    for x in points:
        write("%.17g %.17g %.17g\n" % tuple(x))
    for (a, b, c), surface in zip(triangles, of):
        write(f"{a} {b} {c} {surface}\n")


def group_surfaces(groups):
    """Makes the physical groups."""
    known = surfaces()
    for name, numbers, box in groups:
        for number in numbers:
            if number not in known:
                sys.exit(f"--group {name}: there is no surface {number}: see --list")
        found = set(numbers)
        if box:
            found |= {tag for _, tag in gmsh.model.getEntitiesInBoundingBox(*box, dim=2)}
        if not found & set(known):
            sys.exit(f"--group {name}: no surface lies in the box; extents are in --list")
        gmsh.model.addPhysicalGroup(2, sorted(found), name=name)
    gmsh.model.addPhysicalGroup(3, [tag for _, tag in gmsh.model.getEntities(3)], name="body")


def make_hexahedra(size):
    """Tetrahedra as good as gmsh makes them, cut into four hexahedra each."""
    option = gmsh.option.setNumber
    option("Mesh.MeshSizeMin", 2 * size)
    option("Mesh.MeshSizeMax", 2 * size)
    option("Mesh.MeshSizeExtendFromBoundary", 0)
    option("Mesh.Algorithm", 6)    # Frontal-Delaunay: triangles that are nearly equilateral
    option("Mesh.Algorithm3D", 10)  # HXT
    option("Mesh.Smoothing", 10)
    gmsh.model.mesh.generate(3)
    for method in ("", "Netgen"):
        gmsh.model.mesh.optimize(method, niter=3)
    option("Mesh.SubdivisionAlgorithm", 2)
    gmsh.model.mesh.refine()


def shape_gradients():
    """Derivatives [8 points, 8 nodes, 3] of the shape functions at the integration points."""
    gradients = numpy.empty((8, 8, 3))
    for p, xi in enumerate(CORNERS / 3 ** 0.5):
        factor = 1 + CORNERS * xi
        for d in range(3):
            others = [e for e in range(3) if e != d]
            gradients[p, :, d] = CORNERS[:, d] * factor[:, others].prod(axis=1) / 8
    return gradients


def determinants(points, gradients):
    """[num, 8] of the Jacobian of hexahedra `points` [num, 8, 3]."""
    return triple(*numpy.einsum("enx,pnd->depx", points, gradients))


def triple(a, b, c):
    """The determinant of three vectors [..., 3]."""
    return (a[..., 0] * (b[..., 1] * c[..., 2] - b[..., 2] * c[..., 1]) +
            a[..., 1] * (b[..., 2] * c[..., 0] - b[..., 0] * c[..., 2]) +
            a[..., 2] * (b[..., 0] * c[..., 1] - b[..., 1] * c[..., 0]))


def corner_quality(points):
    """[num] the least, over the corners, of the determinant of the edges by their lengths."""
    worst = numpy.full(len(points), numpy.inf)
    for corner, ends in enumerate(EDGES_AT):
        edges = [points[:, end] - points[:, corner] for end in ends]
        squares = [(edge ** 2).sum(axis=1) for edge in edges]
        length = numpy.sqrt(squares[0] * squares[1] * squares[2])
        worst = numpy.minimum(worst, triple(*edges) / numpy.maximum(length, 1e-300))
    return worst


def smooth(points, elements, free, sweeps):
    """Moves free nodes towards the mean of the centres of their elements, wherever the worst of
    these does not get worse by it."""
    place = elements.ravel()
    order = numpy.argsort(place, kind="stable")
    count = numpy.bincount(place, minlength=len(points))
    used = numpy.flatnonzero(count)
    begin = (numpy.cumsum(count) - count)[used]
    worst = numpy.full(len(points), numpy.inf)

    def worst_at_nodes(quality):
        worst[used] = numpy.minimum.reduceat(numpy.repeat(quality, 8)[order], begin)
        return worst.copy()

    quality = corner_quality(points[elements])
    random = numpy.random.default_rng(0)
    for _ in range(sweeps):
        centre = numpy.repeat(points[elements].mean(axis=1), 8, axis=0)
        target = numpy.stack([numpy.bincount(place, centre[:, d], len(points)) for d in range(3)],
                             axis=1) / numpy.maximum(count, 1)[:, None]
        before = worst_at_nodes(quality)
        # A third of the nodes at a time, so that few neighbours move at once.
        moving = free & (random.random(len(points)) < 1 / 3)
        moved = points + 0.7 * moving[:, None] * (target - points)
        while True:
            new_quality = corner_quality(moved[elements])
            worse = moving & (worst_at_nodes(new_quality) < before)
            if not worse.any():
                break
            moving &= ~worse  # and then neighbours, perhaps: their elements have changed back
            moved[worse] = points[worse]
        points, quality = moved, new_quality
    return points, quality


def improve(sweeps):
    """Smooths the mesh in gmsh; returns points [num, 3], elements [num, 8], their quality."""
    tags, coordinates, _ = gmsh.model.mesh.getNodes()
    points = coordinates.reshape(-1, 3)
    place = numpy.full(int(tags.max()) + 1, -1)
    place[tags.astype(int)] = numpy.arange(len(tags))
    elements = []
    for kind, _, nodes in zip(*gmsh.model.mesh.getElements(3)):
        if kind != HEXAHEDRON:
            sys.exit(f"gmsh left elements that are no hexahedra: "
                     f"{gmsh.model.mesh.getElementProperties(kind)[0]}")
        elements.append(place[nodes.astype(int)].reshape(-1, 8))
    elements = numpy.concatenate(elements)
    inner = numpy.zeros(len(points), bool)
    for _, solid in gmsh.model.getEntities(3):
        inner[place[gmsh.model.mesh.getNodes(3, solid)[0].astype(int)]] = True
    points, quality = smooth(points, elements, inner, sweeps)
    for k in numpy.flatnonzero(inner):
        gmsh.model.mesh.setNode(int(tags[k]), points[k], [])
    return points, elements, quality


def main():
    options = parse()
    out = os.fdopen(os.dup(1), "w")
    if options.triangles:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # OpenCASCADE prints what it likes
    gmsh.initialize()
    gmsh.option.setNumber("General.Verbosity", 1)
    try:
        gmsh.open(options.file)
    except Exception as error:  # gmsh has no other type
        sys.exit(f"{options.file}: {error}")
    solids = gmsh.model.getEntities(3)
    if not solids:
        sys.exit(f"{options.file}: has no solids" +
                 (", but surfaces alone: sew them to a solid in CAD, or write STEP"
                  if gmsh.model.getEntities(2) else ""))
    if options.triangles:
        if len(solids) > 1:
            sys.exit(f"{options.file}: has {len(solids)} solids: join them in CAD")
        print_triangles(out.write)
        out.flush()
        return
    if len(solids) > 1:  # solids that touch are to share the nodes there
        gmsh.model.occ.fragment(solids[:1], solids[1:])
        gmsh.model.occ.synchronize()
    if options.list:
        list_surfaces()
        return
    group_surfaces(options.groups)
    box = numpy.array(gmsh.model.getBoundingBox(-1, -1))
    size = options.size or float(numpy.linalg.norm(box[3:] - box[:3])) / 40
    make_hexahedra(size)
    points, elements, quality = improve(options.smooth)
    volume = determinants(points[elements], shape_gradients())
    bad = numpy.flatnonzero((volume.min(axis=1) <= 0) | (quality <= 0))
    print(f"{len(elements)} hexahedra, {len(points)} nodes, volume {volume.sum():.6g}; "
          f"corners (1: a brick's): worst {quality.min():.3f}, 1 % below "
          f"{numpy.percentile(quality, 1):.3f}, mean {quality.mean():.3f}")
    if len(bad):
        where = points[elements[bad[0]]].mean(axis=0)
        sys.exit(f"{len(bad)} hexahedra are inside out, one at {where.round(3)}: try another --size")
    output = options.output or options.file.rsplit(".", 1)[0] + ".msh"
    gmsh.option.setNumber("Mesh.MshFileVersion", 4.1)
    gmsh.write(output)
    for dimension, tag in gmsh.model.getPhysicalGroups():
        nodes, _ = gmsh.model.mesh.getNodesForPhysicalGroup(dimension, tag)
        print(f"  {gmsh.model.getPhysicalName(dimension, tag)}: {len(nodes)} nodes")
    print(output)


if __name__ == "__main__":
    main()
