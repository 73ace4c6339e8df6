// SPDX-License-Identifier: Apache-2.0
#include "python/module.hpp"
#include "python/engine/engine.hpp"
#include "python/pfem/model.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

namespace nb = nanobind;
using namespace nb::literals;

namespace ossatura::python {

namespace {

template<class T, int ndim>
using Input = nb::ndarray<const T, nb::ndim<ndim>, nb::c_contig, nb::device::cpu>;
using Mesh = std::shared_ptr<const PfemMesh>;
using Model = Owned<PfemModel>;
using Answer = Owned<PfemAnswer>;

template<class Array>
auto copy_of(const Array& array) {
  return std::vector<std::remove_const_t<typename Array::Scalar>>(array.data(),
                                                                  array.data() + array.size());
}

/// An array of NumPy that owns its memory.
template<class T>
nb::object array_of(const std::vector<T>& values, const std::vector<std::size_t>& shape) {
  auto* const data = new T[values.size()];
  std::copy(values.begin(), values.end(), data);
  const nb::capsule owner(data, [](void* memory) noexcept { delete[] static_cast<T*>(memory); });
  return nb::cast(nb::ndarray<nb::numpy, T>(data, shape.size(), shape.data(), owner));
}

nb::tuple tuple_of(const std::array<double, 3>& v) {
  return nb::make_tuple(v[0], v[1], v[2]);
}

nb::list list_of(const std::vector<std::array<double, 3>>& rows) {
  nb::list list;
  for (const std::array<double, 3>& row : rows)
    list.append(tuple_of(row));
  return list;
}

nb::dict dict_of(const PfemSolve& solve) {
  nb::dict dict;
  dict["iterations"] = solve.iterations;
  dict["residual"] = solve.residual;
  dict["converged"] = solve.converged;
  dict["residual_norm"] = solve.in_energy ? "energy" : "euclidean";
  dict["broken"] = solve.broken;
  return dict;
}

nb::dict dict_of(const PfemNumbers& numbers) {
  nb::dict dict = dict_of(numbers.solve);
  dict["strain_energy"] = numbers.strain_energy;
  dict["compliance"] = numbers.compliance;
  dict["num_modes"] = numbers.num_modes;
  dict["num_unknowns"] = numbers.num_unknowns;
  dict["operator"] = numbers.operator_kind;
  dict["preconditioner"] = numbers.preconditioner;
  dict["reactions"] = nb::tuple(list_of(numbers.reactions));
  return dict;
}

nb::tuple tuple_of(const PfemGradient& gradient) {
  return nb::make_tuple(array_of(gradient.elasticity, {gradient.elasticity.size() / 21, 21}),
                        nb::tuple(list_of(gradient.loads)), dict_of(gradient.solve));
}

nb::tuple sample(const Answer& answer, int points) {
  const PfemSamples found = Engine::instance().run([&] { return answer->sample(points); });
  const std::size_t n = std::size_t(points), num_elem = found.energy.size() / (n * n * n);
  return nb::make_tuple(array_of(found.position, {num_elem, n, n, n, 3}),
                        array_of(found.displacement, {num_elem, n, n, n, 3}),
                        array_of(found.stress, {num_elem, n, n, n, 6}),
                        array_of(found.energy, {num_elem, n, n, n}));
}

void bind_mesh(nb::module_& module) {
  nb::class_<PfemMesh>(module, "PfemMesh")
      .def("points",
           [](const PfemMesh& mesh) {
             const std::vector<double> points = mesh.points();
             return array_of(points, {points.size() / 3, 3});
           })
      .def("elements",
           [](const PfemMesh& mesh) {
             const std::vector<std::int32_t> nodes = mesh.elements();
             return array_of(nodes, {nodes.size() / 8, 8});
           })
      .def("is_curved", &PfemMesh::is_curved);
  module.def(
      "make_pfem_mesh",
      [](const Input<double, 2>& points, const Input<std::int32_t, 2>& hexa,
         const Input<double, 3>& quadratic, bool says_unit) {
        return std::const_pointer_cast<PfemMesh>(
            make_pfem_mesh(copy_of(points), copy_of(hexa), copy_of(quadratic), says_unit));
      },
      "points"_a, "hexa"_a, "quadratic"_a, "says_unit"_a);
  module.def(
      "make_pfem_sphere",
      [](double inner, double outer, int along, int across) {
        return std::const_pointer_cast<PfemMesh>(make_pfem_sphere(inner, outer, along, across));
      },
      "inner"_a, "outer"_a, "along"_a, "across"_a);
  module.def(
      "make_pfem_cylinder",
      [](double inner, double outer, double height, int along, int across, int up) {
        return std::const_pointer_cast<PfemMesh>(
            make_pfem_cylinder(inner, outer, height, along, across, up));
      },
      "inner"_a, "outer"_a, "height"_a, "along"_a, "across"_a, "up"_a);
}

void bind_choices(nb::module_& module) {
  nb::class_<PfemChoice>(module, "PfemChoice")
      .def(nb::init<>())
      .def_rw("is_tensor", &PfemChoice::is_tensor)
      .def_rw("points", &PfemChoice::points);
  nb::class_<PfemSolverChoice>(module, "PfemSolverChoice")
      .def(nb::init<>())
      .def_rw("preconditioner", &PfemSolverChoice::preconditioner)
      .def_rw("operator", &PfemSolverChoice::operator_kind)
      .def_rw("tolerance", &PfemSolverChoice::tolerance)
      .def_rw("max_iterations", &PfemSolverChoice::max_iterations);
}

void bind_answer(nb::module_& module) {
  nb::class_<Answer>(module, "PfemAnswer")
      .def("numbers", [](const Answer& answer) { return dict_of(answer->numbers()); })
      .def("displacement",
           [](const Answer& answer) {
             const std::vector<double> u =
                 Engine::instance().run([&] { return answer->displacement(); });
             return array_of(u, {u.size() / 3, 3});
           })
      .def("sample", sample, "points"_a)
      .def(
          "gradient",
          [](const Answer& answer, const std::string& quantity, const PfemSolverChoice& choice,
             nb::object callback) {
            return tuple_of(Engine::instance().run(callback, [&](const Observer& observe) {
              return answer->gradient(quantity, choice, observe);
            }));
          },
          "quantity"_a, "choice"_a, nb::arg("callback").none())
      .def(
          "adjoint",
          [](const Answer& answer, const Input<double, 2>& weight, const PfemSolverChoice& choice,
             nb::object callback) {
            return tuple_of(Engine::instance().run(callback, [&](const Observer& observe) {
              return answer->adjoint(weight.data(), choice, observe);
            }));
          },
          "weight"_a, "choice"_a, nb::arg("callback").none());
}

} // namespace

void bind_pfem(nb::module_& module) {
  bind_mesh(module);
  bind_choices(module);
  bind_answer(module);
  nb::class_<Model>(module, "PfemModel")
      .def(
          "__init__",
          [](Model* self, const std::string& backend, const std::shared_ptr<PfemMesh>& mesh,
             const Input<std::uint8_t, 1>& order, const Input<double, 1>& elasticity,
             const PfemChoice& choice) {
            const Mesh kept = mesh;
            new (self) Model(Engine::instance().run([&] {
              return make_pfem(backend, kept, copy_of(order), copy_of(elasticity), choice);
            }));
          },
          "backend"_a, "mesh"_a, "order"_a, "elasticity"_a, "choice"_a)
      .def(
          "set_elasticity",
          [](const Model& model, const Input<double, 1>& elasticity) {
            Engine::instance().run([&] { model->set_elasticity(copy_of(elasticity)); });
          },
          "elasticity"_a)
      .def(
          "hold",
          [](const Model& model, const Input<std::uint8_t, 1>& chosen, int components,
             const std::array<double, 3>& displacement) {
            Engine::instance().run([&] { model->hold(copy_of(chosen), components, displacement); });
          },
          "chosen"_a, "components"_a, "displacement"_a)
      .def(
          "add_load",
          [](const Model& model, int kind, const Input<std::uint8_t, 1>& chosen,
             const std::array<double, 3>& value) {
            return Engine::instance().run(
                [&] { return model->add_load(PfemLoadKind(kind), copy_of(chosen), value); });
          },
          "kind"_a, "chosen"_a, "value"_a)
      .def(
          "set_load",
          [](const Model& model, int number, const std::array<double, 3>& value) {
            Engine::instance().run([&] { model->set_load(number, value); });
          },
          "number"_a, "value"_a)
      .def(
          "solve",
          [](const Model& model, const PfemSolverChoice& choice, nb::object callback) {
            return new Answer(Engine::instance().run(
                callback, [&](const Observer& observe) { return model->solve(choice, observe); }));
          },
          "choice"_a, nb::arg("callback").none(), nb::rv_policy::take_ownership);
}

} // namespace ossatura::python
