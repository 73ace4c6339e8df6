# SPDX-License-Identifier: Apache-2.0
"""Files and pictures of results, summaries in notebooks, and what is said where nothing can draw."""
import contextlib
import copy
import importlib.util
import io
import os
import pathlib
import pickle
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree

import numpy as np
import ossatura
from cases import porous_image, run_script, tetra_box
from ossatura import _draw, bone, eikonal, pfem, softbody, topopt

MATPLOTLIB = importlib.util.find_spec("matplotlib")
os.environ.setdefault("MPLBACKEND", "Agg")
TYPES = {"Float32": "<f4", "Float64": "<f8", "Int32": "<i4", "Int64": "<i8", "UInt8": "u1"}


def read_vtk(path):
    """The arrays of a file with appended raw data, by section and name, and the XML before them."""
    head, _, data = path.read_bytes().partition(b'<AppendedData encoding="raw">\n_')
    tree = xml.etree.ElementTree.fromstring(head + b"</VTKFile>")
    found = {}
    for section in tree.iter():
        for array in section.findall("DataArray"):
            place = int(array.get("offset"))
            size = int(np.frombuffer(data, "<u8", 1, place)[0])
            values = np.frombuffer(data[place + 8:place + 8 + size], TYPES[array.get("type")])
            components = int(array.get("NumberOfComponents", 1))
            found[section.tag, array.get("Name")] = values.reshape(-1, components) if components > 1 else values
    return found, tree


def design(**options):
    points, hexa = topopt.box((8, 4, 3), (8, 4, 3))
    force = np.where((points == (8, 0, 0)).all(1)[:, None], (0, 0, -1.0), 0)
    return topopt.Optimizer(points, hexa, young=1, held=points[:, 0] == 0, loads=force, volume=0.4,
                            backend="serial", **options)


def world():
    points, tetra = tetra_box(2)
    made = softbody.World(backend="serial")
    made.add(points, tetra, name="<lower>")
    box, hexa = topopt.box((2, 2, 2), (1, 1, 1))
    made.add(box + [0, 0, 5], hexa, velocity=np.ones((27, 3)))
    made.add([[0, 0, 9], [1, 0, 9], [0, 1, 9], [1, 1, 9]], [[0, 1, 2], [1, 3, 2]])
    return made


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class Copies(unittest.TestCase):
    """Models and results are held by the library: copies and pickles of them would have nothing to be of."""

    def made(self):
        points, tetra = tetra_box(2)
        solver = eikonal.Solver(points, tetra, velocities=0.5, backend="serial")
        bodies = world()
        box = pfem.Mesh(*topopt.box((2, 1, 1), (2, 1, 1)))
        model = pfem.Model(box, order=2, young=1.0, backend="serial")
        model.hold(box.points[:, 0] == 0)
        model.add_traction(box.points[:, 0] == 2, (0, 0, -1e-3))
        image = porous_image((6, 5, 4))
        return (solver, bodies, bodies.bodies[0], bodies.run(1), model, model.solve(), design(),
                bone.solve(image, 0.1, backend="serial"), bone.homogenise(image, 0.1, backend="serial"))

    def test_what_the_library_holds_says_what_can_be_pickled(self):
        for one in self.made():
            for call in (pickle.dumps, copy.copy, copy.deepcopy):
                with self.subTest(kind=type(one), call=call):
                    with self.assertRaisesRegex(TypeError, rf"^ossatura\.\w+\.{type(one).__name__} cannot be pickled or "
                                                           "copied, since the library holds it in memory of its own: "):
                        call(one)

    def test_what_is_of_numbers_alone_can(self):
        solver = eikonal.Solver(*tetra_box(2), velocities=0.5, backend="serial")
        times = solver.solve({0: 0.0})
        self.assertEqual(pickle.loads(pickle.dumps(solver.info)), solver.info)
        self.assertTrue(np.array_equal(pickle.loads(pickle.dumps(times)), times))
        motion = world().run(1)
        self.assertEqual(pickle.loads(pickle.dumps(motion.steps)), motion.steps)

    def test_meshes_are_made_anew(self):
        points, hexa = topopt.box((2, 1, 1), (2, 1, 1))
        middles = np.zeros((2, 27, 3))
        corners = points[hexa]
        order = [(0,), (1,), (2,), (3,), (4,), (5,), (6,), (7,), (0, 1), (4, 5), (3, 2), (7, 6), (0, 3), (4, 7), (1, 2), (5, 6),
                 (0, 4), (3, 7), (1, 5), (2, 6), (0, 3, 7, 4), (1, 2, 6, 5), (0, 1, 5, 4), (3, 2, 6, 7), (0, 3, 2, 1),
                 (4, 5, 6, 7), tuple(range(8))]
        for k, of in enumerate(order):
            middles[:, k] = corners[:, of].mean(1)
        for mesh in (pfem.Mesh(points, hexa), pfem.Mesh(points, hexa, quadratic=middles), pfem.sphere_octant(1, 2),
                     pfem.cylinder_quarter(1, 2, 3, up=2)):
            for other in (pickle.loads(pickle.dumps(mesh)), copy.deepcopy(mesh)):
                self.assertTrue(np.array_equal(other.points, mesh.points) and np.array_equal(other.hexa, mesh.hexa))
                self.assertEqual((other.is_curved, other._more_points), (mesh.is_curved, mesh._more_points))


class Page(InFolder):
    def test_the_block_about_results_runs_after_those_before(self):
        text = (pathlib.Path(__file__).parents[2] / "docs" / "python.md").read_text()
        block = text.partition("## Results: numbers, files, pictures")[2].partition("```python\n")[2].partition("```")[0]
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        with contextlib.redirect_stdout(io.StringIO()) as printed, unittest.mock.patch.object(bone.Result, "plot") as plot:
            # `result` is that of the block before, of pfem
            exec(block, {"bone": bone, "modulus": porous_image((6, 5, 4)), "result": None})
        self.assertTrue(np.isfinite(float(printed.getvalue())))
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"bone.npz", "bone.vti"})
        self.assertEqual(plot.call_count, 2)


class Files(InFolder):
    def test_bone(self):
        image = porous_image()
        for axes in ("zyx", "xyz"):
            result = bone.solve(image if axes == "zyx" else image.T, 0.1, axes=axes, backend="serial")
            result.save(self.folder / "bone.npz")
            with np.load(self.folder / "bone.npz") as found:
                self.assertEqual(float(found["stiffness"]), result.stiffness)
                self.assertEqual(str(found["axes"]), axes)
                self.assertNotIn("moment", found)
                self.assertTrue(np.array_equal(found["displacement"], result.displacement))
                self.assertEqual(tuple(found["reaction_forces"][list(found["supports"]).index("upper plate")]),
                                 result.reactions["upper plate"].force)
            result.save(self.folder / "bone.vti", ["displacement", "energy_density", "stress_tensor"])
            found, tree = read_vtk(self.folder / "bone.vti")
            self.assertEqual(tree[0].get("WholeExtent"), "0 10 0 12 0 14")
            self.assertEqual(tree[0].get("Spacing"), "0.1 0.1 0.1")
            in_file = [(found["CellData", "energy_density"], result.energy_density, (14, 12, 10)),
                       (found["CellData", "stress_tensor"], result.stress_tensor, (14, 12, 10, 6)),
                       (found["PointData", "displacement"], result.displacement, (15, 13, 11, 3))]
            for values, field, shape in in_file:
                there = field if axes == "zyx" else field.swapaxes(0, 2)
                self.assertTrue(np.array_equal(values.reshape(shape), there))
            self.assertEqual(found["FieldData", "stiffness"][0], result.stiffness)

    def test_homogenised(self):
        result = bone.homogenise(porous_image((6, 5, 5)), 0.1)
        result.save(self.folder / "c.npz")
        with np.load(self.folder / "c.npz") as found:
            self.assertTrue(np.array_equal(found["stiffness"], result.stiffness))
            self.assertEqual(found["iterations"].shape, (6,))
        with self.assertRaisesRegex(ossatura.UsageError, "ends in .npz"):
            result.save(self.folder / "c.vti")

    def test_times(self):
        points, tetra = tetra_box(3)
        solver = eikonal.Solver(np.concatenate([points, [[9, 9, 9]]]), tetra, velocities=1.0, backend="serial",
                                tags=np.arange(len(tetra)) % 3)
        times = solver.solve([{0: 0.0}, {5: 1.0}])
        solver.save(self.folder / "t.npz", times)
        with np.load(self.folder / "t.npz") as found:
            self.assertTrue(np.array_equal(found["times"], times))
            self.assertTrue(np.array_equal(found["tetra"], tetra))
        solver.save(self.folder / "t.vtu", times)
        found, tree = read_vtk(self.folder / "t.vtu")
        self.assertEqual(tree.find(".//Piece").get("NumberOfCells"), str(len(tetra)))
        self.assertTrue(np.array_equal(found["Cells", "connectivity"].reshape(-1, 4), tetra))
        self.assertTrue(np.array_equal(found["Cells", "offsets"], 4 * np.arange(1, len(tetra) + 1)))
        self.assertTrue(np.all(found["Cells", "types"] == 10))
        self.assertTrue(np.array_equal(found["Points", "Points"][:-1], points))
        self.assertTrue(np.array_equal(found["PointData", "times_1"][:-1], times[1, :-1]))
        self.assertTrue(np.isnan(found["PointData", "times_0"][-1]))
        self.assertEqual(found["CellData", "tags"][4], 1)
        with self.assertRaisesRegex(ossatura.InputError, "times"):
            solver.save(self.folder / "t.vtu", times[:, 1:])

    def test_worlds(self):
        made = world()
        start = made._start()
        made.step()
        made.save(self.folder / "w.vtu")
        found, _ = read_vtk(self.folder / "w.vtu")
        self.assertEqual(list(np.unique(found["Cells", "types"])), [5, 10, 12])
        self.assertEqual(list(found["CellData", "body"][-3:]), [1, 2, 2])
        self.assertEqual(list(found["Cells", "connectivity"][-6:] - 27 - 27), [0, 1, 2, 1, 3, 2])
        self.assertTrue(np.array_equal(found["Points", "Points"], made.positions))
        np.testing.assert_allclose(found["PointData", "displacement"], made.positions - start, atol=1e-12)
        self.assertEqual(found["FieldData", "time"][0], made.time)
        made.save(self.folder / "w.npz")
        with np.load(self.folder / "w.npz") as found:
            self.assertTrue(np.array_equal(found["velocities"], made.velocities))
            self.assertEqual(list(found["first_points"]), [0, 27, 54])

    def test_designs(self):
        optimizer = design()
        optimizer.step()
        optimizer.save(self.folder / "d.vtu")
        found, _ = read_vtk(self.folder / "d.vtu")
        self.assertTrue(np.array_equal(found["CellData", "densities"], optimizer.densities))
        optimizer.save(self.folder / "d.npz")
        with np.load(self.folder / "d.npz") as found:
            self.assertTrue(np.array_equal(found["variables"], optimizer.variables))

    def test_what_cannot_be_written_leaves_the_old_file(self):
        result = bone.solve(porous_image(), 0.1)
        path = self.folder / "bone.npz"
        path.write_bytes(b"old")
        with self.assertRaisesRegex(ossatura.UsageError, "'displacement', 'energy_density'"):
            result.save(path, ["beauty"])
        with self.assertRaisesRegex(ossatura.UsageError, r"bone.xls'\): a name that ends in .npz or .vti"):
            result.save(self.folder / "bone.xls")
        with self.assertRaises(OSError):
            result.save(self.folder / "nowhere" / "bone.npz")
        with unittest.mock.patch("numpy.savez", side_effect=OSError("disk full")), self.assertRaises(OSError):
            result.save(path)
        self.assertEqual(path.read_bytes(), b"old")
        self.assertEqual([file.name for file in self.folder.iterdir()], ["bone.npz"])


class Surfaces(unittest.TestCase):
    def test_a_box_has_the_faces_of_its_sides(self):
        points, hexa = topopt.box((4, 3, 2), (4, 3, 2))
        faces, owner = _draw.boundary(hexa)
        self.assertEqual(len(faces), 2 * (12 + 8 + 6))
        a, b, c, d = points[faces].transpose(1, 0, 2)
        normal = np.cross(c - a, d - b)
        self.assertAlmostEqual(np.linalg.norm(normal, axis=1).sum() / 2, 52)
        inside = ((points[faces].mean(1) - points[hexa[owner]].mean(1)) * normal).sum(1)
        self.assertTrue(np.all(inside > 0))  # normals point out

    def test_tetrahedra_and_large_numbers_of_nodes(self):
        points, tetra = tetra_box(3)
        faces, owner = _draw.boundary(tetra)
        self.assertEqual(len(faces), 6 * 9 * 2)
        self.assertTrue(all(set(face) <= set(tetra[k]) for face, k in zip(faces, owner)))
        self.assertEqual(len(_draw.boundary(tetra + 2**22)[0]), len(faces))
        self.assertEqual(len(_draw.boundary(np.zeros((0, 8), np.int32))[0]), 0)


class Pictures(InFolder):
    def check(self, plot, engine="matplotlib"):
        path = self.folder / "picture.png"
        drawn = plot(path=path, engine=engine)
        self.assertTrue(path.read_bytes().startswith(b"\x89PNG"))
        path.unlink()
        return drawn

    @unittest.skipUnless(MATPLOTLIB, "no matplotlib")
    def test_sections_of_bone(self):
        image = porous_image()
        image[:, :3] = 0
        result = bone.solve(image.T, 0.1, axes="xyz")
        axes = self.check(result.plot)
        middle = axes[1].get_images()[0].get_array()  # y in the middle of the bone: 3 to 11
        self.assertTrue(np.array_equal(middle.filled(0), result.effective_strain[:, 7, :].T))
        np.testing.assert_allclose(axes[1].get_images()[0].get_extent(), (0, 1.0, 0, 1.4))
        self.assertTrue(np.array_equal(middle.mask, image[:, 7] == 0))
        self.check(lambda **options: result.plot(result.gradient(), **options))
        self.check(lambda **options: result.plot("von_mises", **options))
        figure = result.plot(np.where(image.T > 900, np.nan, image.T), label="MPa", engine="matplotlib")[0].figure
        from matplotlib import pyplot
        self.assertIn(figure.number, pyplot.get_fignums())  # for show()
        pyplot.close(figure)
        with self.assertRaisesRegex(ossatura.UsageError, "field='colour'"):
            result.plot("colour")
        with self.assertRaisesRegex(ossatura.InputError, "field: an array of shape"):
            result.plot(np.zeros((14, 12, 10)))

    @unittest.skipUnless(MATPLOTLIB, "no matplotlib")
    def test_surfaces(self):
        points, tetra = tetra_box(3)
        solver = eikonal.Solver(points, tetra, velocities=1.0)
        times = solver.solve({0: 0.0})
        times[5] = np.inf
        axes = self.check(lambda **options: solver.plot(times, **options))
        self.assertEqual(np.ma.count_masked(axes.collections[0].get_array()),
                         (_draw.boundary(tetra)[0] == 5).any(1).sum())
        with unittest.mock.patch.object(_draw, "MAX_FACES", 10):
            axes = self.check(lambda **options: solver.plot(times, **options))
        self.assertEqual([len(dots.get_offsets()) for dots in axes.collections], [6, 102])
        optimizer = design()
        optimizer.step()
        self.check(optimizer.plot)
        with self.assertRaisesRegex(ossatura.UsageError, "the largest density"):
            optimizer.plot(1.5)
        made = world()
        self.check(made.plot)
        made.add(points, tetra)  # a picture does not begin the motion
        made.step()
        self.check(lambda **options: made.plot(made.positions[:, 2], label="height, m", **options))
        with self.assertRaisesRegex(ossatura.UsageError, "without bodies"):
            softbody.World().plot()

    @unittest.skipUnless(importlib.util.find_spec("pyvista"), "no PyVista")
    def test_pyvista(self):
        script = """
import sys
sys.path.insert(0, %r)
from test_results import *
result = bone.solve(porous_image(), 0.1)
result.plot(path="a.png")
result.plot(result.gradient(), path="b.png", engine="pyvista")
optimizer = design()
optimizer.step()
optimizer.plot(path="c.png")
world().plot(path="d.png")
points, tetra = tetra_box(3)
solver = eikonal.Solver(points, tetra, velocities=1.0)
solver.plot(solver.solve({0: 0.0}), path="e.png")
""" % str(pathlib.Path(__file__).parent)
        code, _, err = run_script(f"import os\nos.chdir({str(self.folder)!r})\n{script}")
        self.assertEqual(code, 0, err)
        self.assertEqual(sorted(file.name for file in self.folder.iterdir()), [f"{k}.png" for k in "abcde"])

    def test_where_nothing_can_draw(self):
        result = bone.solve(porous_image(), 0.1)
        nothing = {"matplotlib": None, "matplotlib.figure": None, "pyvista": None}
        with unittest.mock.patch.dict(sys.modules, nothing):
            with self.assertRaisesRegex(ImportError, "python -m pip install matplotlib"):
                result.plot()
            with self.assertRaisesRegex(ImportError, "python -m pip install pyvista"):
                result.plot(engine="pyvista")
            self.assertNotIn("<img", result._repr_html_())
        with self.assertRaisesRegex(ossatura.UsageError, "engine"):
            result.plot(engine="pencil")

    def test_importing_the_package_imports_nothing_that_draws(self):
        code, out, err = run_script("import sys, ossatura; print([m for m in sys.modules if m.partition('.')[0] in "
                                    "('matplotlib', 'pyvista', 'vtk', 'tqdm', 'scipy', 'h5py')])")
        self.assertEqual((code, out.strip()), (0, "[]"), err)


class Notebooks(unittest.TestCase):
    def test_summaries(self):
        result = bone.solve(porous_image(), 0.1)
        text = result._repr_html_()
        self.assertIn(f"{result.stiffness:.6g} N/mm", text)
        self.assertEqual("<img" in text, bool(MATPLOTLIB))
        torsion = bone.solve(porous_image(), 0.1, test="torsion")
        self.assertIn(f"{torsion.rotational_stiffness:.6g} N mm/rad", torsion._repr_html_())
        found = bone.homogenise(porous_image((6, 5, 5)), 0.1)
        self.assertIn(f"{found.stiffness[0, 0]:.5g}", found._repr_html_())
        points, tetra = tetra_box(2)
        solver = eikonal.Solver(points, tetra, velocities=1.0)
        self.assertNotIn("certificate", solver._repr_html_())
        times = solver.solve({0: 0.0})
        self.assertIn("certificate", solver._repr_html_())
        self.assertEqual("<img" in solver._repr_html_(), bool(MATPLOTLIB))
        del times  # nor does the solver keep it
        self.assertNotIn("<img", solver._repr_html_())
        self.assertIn("mean density", design()._repr_html_())
        made = world()
        self.assertIn("&lt;lower&gt;", made._repr_html_())
        made.step()
        self.assertIn("kinetic", made._repr_html_())
        self.assertIn("soft bodies", softbody.World()._repr_html_())


class Progress(unittest.TestCase):
    @unittest.skipUnless(importlib.util.find_spec("tqdm"), "no tqdm")
    def test_bars_end_and_the_callback_is_called(self):
        seen = []
        shown = io.StringIO()
        with contextlib.redirect_stderr(shown):
            result = bone.solve(porous_image(), 0.1, progress=True, callback=lambda *now: seen.append(now))
            bone.homogenise(porous_image((6, 5, 5)), 0.1, progress=True)
        self.assertEqual(seen[-1][0], result.iterations)
        first, last = (text.split("\r")[-1] for text in shown.getvalue().rstrip().split("\n"))
        self.assertRegex(first, f"axial: 100%.*iteration {result.iterations}, residual")
        self.assertRegex(last, "homogenise: 100%")

    def test_an_exception_in_the_callback_arrives_and_without_tqdm_there_is_a_remedy(self):
        def stop(iteration, residual):
            raise KeyError(iteration)

        if importlib.util.find_spec("tqdm"):
            with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(KeyError):
                bone.solve(porous_image(), 0.1, progress=True, callback=stop)
        with unittest.mock.patch.dict(sys.modules, {"tqdm": None, "tqdm.auto": None}):
            with self.assertRaisesRegex(ImportError, "python -m pip install tqdm"):
                bone.solve(porous_image(), 0.1, progress=True)


class FailureLoads(unittest.TestCase):
    def test_the_factor_scales_with_the_load_and_the_criterion(self):
        one, two = (bone.solve(porous_image(), 0.1, strain=strain, tolerance=1e-10) for strain in (-0.01, -0.02))
        factor = one.failure_factor()
        self.assertAlmostEqual(factor / two.failure_factor(), 2, delta=1e-4)
        self.assertAlmostEqual(one.failure_factor(strain=0.014) / factor, 2)
        beyond = (one.effective_strain * factor > 0.007).sum() / one.num_voxels
        self.assertAlmostEqual(beyond, 0.02, delta=1.5 / one.num_voxels)
        for wrong in ({"strain": 0}, {"volume": 0}, {"volume": 1}):
            with self.assertRaisesRegex(ossatura.UsageError, "failure_factor"):
                one.failure_factor(**wrong)


if __name__ == "__main__":
    unittest.main()
