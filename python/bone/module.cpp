// SPDX-License-Identifier: Apache-2.0
#include "python/module.hpp"
#include "python/bone/model.hpp"
#include "python/engine/engine.hpp"
#include <ossatura/solvers/bone/results/stiffness_matrix.hpp>

#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

namespace nb = nanobind;
using namespace nb::literals;

namespace ossatura::python {

namespace {

using Image = nb::ndarray<const float, nb::ndim<3>, nb::c_contig>;
template<class T, int ndim>
using Output = nb::ndarray<T, nb::ndim<ndim>, nb::c_contig>;
using Answer = Owned<BoneAnswer>;
using Homogenised = Owned<BoneHomogenised>;

BoneImage image_of(const Image& array, double spacing, double poisson) {
  for (std::size_t d = 0; d < 3; ++d)
    if (array.shape(d) < 1 || array.shape(d) >= std::size_t(1) << 20)
      throw std::invalid_argument("modulus: every side has 1 to 1048575 voxels");
  return {array.data(),
          {int(array.shape(2)), int(array.shape(1)), int(array.shape(0))},
          spacing,
          poisson};
}

nb::dict dict_of(const BoneSolve& solve) {
  nb::dict dict;
  dict["iterations"] = solve.iterations;
  dict["residual"] = solve.residual;
  dict["converged"] = solve.converged;
  dict["fell_back"] = solve.fell_back;
  return dict;
}

void add_model(const BoneModelNumbers& model, nb::dict& dict) {
  dict["num_voxels"] = model.num_elem;
  dict["num_nodes"] = model.num_nodes;
  dict["num_dropped"] = model.num_dropped;
}

nb::dict dict_of(const BoneNumbers& numbers) {
  nb::dict dict = dict_of(numbers.solve);
  add_model(numbers.model, dict);
  dict["strain_energy"] = numbers.strain_energy;
  dict["height"] = numbers.height;
  dict["area"] = numbers.area;
  dict["plate_displacement"] = numbers.displacement;
  dict["force"] = numbers.force;
  dict["strain"] = numbers.strain;
  dict["stress"] = numbers.stress;
  dict["stiffness"] = numbers.stiffness;
  dict["apparent_modulus"] = numbers.apparent_modulus;
  dict["angle"] = numbers.angle;
  dict["moment"] = numbers.moment;
  dict["rotational_stiffness"] = numbers.rotational_stiffness;
  return dict;
}

nb::list list_of(const std::vector<BoneReaction>& reactions) {
  nb::list list;
  for (const BoneReaction& reaction : reactions) {
    nb::dict dict;
    dict["name"] = reaction.name;
    dict["num_nodes"] = reaction.num_nodes;
    dict["force"] = nb::make_tuple(reaction.force[0], reaction.force[1], reaction.force[2]);
    dict["moment"] = nb::make_tuple(reaction.moment[0], reaction.moment[1], reaction.moment[2]);
    dict["centre"] = nb::make_tuple(reaction.centre[0], reaction.centre[1], reaction.centre[2]);
    dict["displacement"] = nb::make_tuple(reaction.displacement[0], reaction.displacement[1],
                                          reaction.displacement[2]);
    dict["contact_area"] = reaction.contact_area;
    list.append(dict);
  }
  return list;
}

nb::list rows_of(const BoneStiffness::Matrix& matrix) {
  nb::list rows;
  for (const std::array<double, 6>& row : matrix)
    rows.append(nb::cast(row));
  return rows;
}

nb::dict dict_of(const BoneStiffness& found) {
  nb::dict dict;
  add_model(found.model, dict);
  dict["stiffness"] = rows_of(found.stiffness);
  dict["voigt"] = rows_of(found.voigt);
  dict["reuss"] = rows_of(found.reuss);
  nb::list solves;
  for (const BoneSolve& solve : found.solves)
    solves.append(dict_of(solve));
  dict["solves"] = solves;
  return dict;
}

nb::dict dict_of(const EngineeringConstants& found) {
  nb::dict dict;
  dict["young"] = nb::cast(found.young);
  dict["shear"] = nb::cast(found.shear);
  nb::list poisson;
  for (const std::array<double, 3>& row : found.poisson)
    poisson.append(nb::cast(row));
  dict["poisson"] = poisson;
  return dict;
}

void bind_constants(nb::module_& module) {
  module.def(
      "engineering_constants",
      [](const StiffnessMatrix& stiffness) -> std::optional<nb::dict> {
        const auto found = engineering_constants(stiffness);
        return found ? std::optional(dict_of(*found)) : std::nullopt;
      },
      "stiffness"_a);
  module.def(
      "orthotropic_axes",
      [](const StiffnessMatrix& stiffness) {
        const OrthotropicAxes found = find_orthotropic_axes(stiffness, left_by_solves);
        nb::dict dict;
        nb::list axes;
        for (const std::array<double, 3>& axis : found.axis)
          axes.append(nb::cast(axis));
        dict["axes"] = axes;
        dict["stiffness"] = rows_of(found.stiffness);
        dict["departure"] = found.departure;
        return dict;
      },
      "stiffness"_a);
}

void bind_homogenised(nb::module_& module) {
  nb::class_<Homogenised>(module, "BoneHomogenised")
      .def("numbers", [](const Homogenised& found) { return dict_of(found->numbers()); })
      .def(
          "gradient",
          [](const Homogenised& found, const BoneStiffness::Matrix& weight, Output<double, 3> out) {
            Engine::instance().run([&] { found->gradient(weight, out.data()); });
          },
          "weight"_a, nb::arg("out").noconvert());
}

void bind_answer(nb::module_& module) {
  nb::class_<Answer>(module, "BoneAnswer")
      .def("numbers", [](const Answer& answer) { return dict_of(answer->numbers()); })
      .def("reactions", [](const Answer& answer) { return list_of(answer->numbers().reactions); })
      .def(
          "displacement",
          [](const Answer& answer, Output<double, 4> out) {
            Engine::instance().run([&] { answer->displacement(out.data()); });
          },
          nb::arg("out").noconvert())
      .def(
          "field",
          [](const Answer& answer, const std::string& name, Output<float, 4> out) {
            if (num_components(name) == 0 || out.shape(3) != std::size_t(num_components(name)))
              throw std::invalid_argument("no field \"" + name + "\" of that shape");
            Engine::instance().run([&] { answer->field(name, out.data()); });
          },
          "name"_a, nb::arg("out").noconvert())
      .def(
          "energy_gradient",
          [](const Answer& answer, Output<double, 3> out) {
            Engine::instance().run([&] { answer->energy_gradient(out.data()); });
          },
          nb::arg("out").noconvert())
      .def(
          "adjoint",
          [](const Answer& answer, Output<const double, 4> weight, const BoneOptions& options,
             nb::object callback, Output<double, 3> out) {
            return dict_of(Engine::instance().run(callback, [&](const Observer& observe) {
              return answer->adjoint(weight.data(), options, observe, out.data());
            }));
          },
          "weight"_a, "options"_a, nb::arg("callback").none(), nb::arg("out").noconvert());
}

} // namespace

void bind_bone(nb::module_& module) {
  nb::class_<BoneTest>(module, "BoneTest")
      .def(nb::init<>())
      .def_prop_rw(
          "kind", [](const BoneTest& test) { return int(test.kind); },
          [](BoneTest& test, int kind) { test.kind = BoneTestKind(kind); })
      .def_rw("axis", &BoneTest::axis)
      .def_rw("direction", &BoneTest::direction)
      .def_rw("strain", &BoneTest::strain)
      .def_rw("displacement", &BoneTest::displacement)
      .def_rw("angle", &BoneTest::angle)
      .def_rw("lateral_free", &BoneTest::lateral_free)
      .def_rw("plate_depth", &BoneTest::plate_depth)
      .def_rw("about_mass", &BoneTest::about_mass)
      .def_rw("centre", &BoneTest::centre);
  nb::class_<BoneOptions>(module, "BoneOptions")
      .def(nb::init<>())
      .def_rw("tolerance", &BoneOptions::tolerance)
      .def_rw("max_iterations", &BoneOptions::max_iterations)
      .def_rw("precision", &BoneOptions::precision)
      .def_rw("islands", &BoneOptions::islands);
  bind_answer(module);
  bind_homogenised(module);
  bind_constants(module);
  module.def(
      "solve_bone",
      [](const std::string& backend, const Image& image, double spacing, double poisson,
         const BoneTest& test, const BoneOptions& options, nb::object callback) {
        const BoneImage taken = image_of(image, spacing, poisson);
        return new Answer(Engine::instance().run(callback, [&](const Observer& observe) {
          return solve_bone(backend, taken, test, options, observe);
        }));
      },
      "backend"_a, nb::arg("image").noconvert(), "spacing"_a, "poisson"_a, "test"_a, "options"_a,
      nb::arg("callback").none(), nb::rv_policy::take_ownership);
  module.def(
      "homogenise_bone",
      [](const std::string& backend, const Image& image, double spacing, double poisson,
         const BoneOptions& options, bool periodic, bool keep, nb::object callback) {
        const BoneImage taken = image_of(image, spacing, poisson);
        return new Homogenised(Engine::instance().run(callback, [&](const Observer& observe) {
          return homogenise_bone(backend, taken, options, periodic, keep, observe);
        }));
      },
      "backend"_a, nb::arg("image").noconvert(), "spacing"_a, "poisson"_a, "options"_a,
      "periodic"_a, "keep"_a, nb::arg("callback").none(), nb::rv_policy::take_ownership);
}

} // namespace ossatura::python
