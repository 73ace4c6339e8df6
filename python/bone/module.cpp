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
using Labels = nb::ndarray<const int, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
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
  dict["mask_area"] = numbers.mask_area;
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

nb::list list_of(const std::vector<BoneLabel>& labels) {
  nb::list list;
  for (const BoneLabel& of : labels) {
    nb::dict dict;
    dict["label"] = of.label;
    dict["num_voxels"] = of.num_elem;
    dict["modulus_mean"] = of.modulus_mean;
    dict["energy_density_mean"] = of.energy_density_mean;
    dict["von_mises_mean"] = of.von_mises_mean;
    dict["von_mises_max"] = of.von_mises_max;
    dict["effective_strain_mean"] = of.effective_strain_mean;
    dict["effective_strain_max"] = of.effective_strain_max;
    dict["energy_share"] = of.energy_share;
    list.append(dict);
  }
  return list;
}

nb::list list_of(const std::vector<BoneState>& states) {
  nb::list list;
  for (const BoneState& state : states) {
    nb::dict dict;
    dict["mass"] = state.mass;
    dict["mean_density"] = state.mean_density;
    dict["mean_stimulus"] = state.mean_stimulus;
    dict["forming"] = state.forming;
    dict["resorbing"] = state.resorbing;
    dict["at_least"] = state.at_least;
    dict["at_most"] = state.at_most;
    dict["mean_change"] = state.mean_change;
    dict["strain_energy"] = state.strain_energy;
    dict["stiffness"] = state.stiffness;
    dict["iterations"] = state.iterations;
    dict["residual"] = state.residual;
    list.append(dict);
  }
  return list;
}

nb::dict dict_of(const BoneSections& sections) {
  nb::dict dict;
  dict["axis"] = sections.axis;
  dict["labels"] = nb::cast(sections.labels);
  dict["position"] = nb::cast(sections.position);
  dict["force"] = nb::cast(sections.force);
  dict["label_force"] = nb::cast(sections.label_force);
  dict["begin"] = sections.begin;
  dict["end"] = sections.end;
  dict["reaction"] = sections.reaction;
  return dict;
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
      .def("labels", [](const Answer& answer) { return list_of(answer->numbers().labels); })
      .def("states", [](const Answer& answer) { return list_of(answer->numbers().states); })
      .def("sections",
           [](const Answer& answer) -> std::optional<nb::dict> {
             const std::optional<BoneSections>& sections = answer->numbers().sections;
             return sections ? std::optional(dict_of(*sections)) : std::nullopt;
           })
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

/// What Python says of the labels of a mask, and of the steps of remodelling.
void bind_choices(nb::module_& module) {
  nb::class_<BoneLabelLaw>(module, "BoneLabelLaw")
      .def(nb::init<>())
      .def_rw("label", &BoneLabelLaw::label)
      .def_rw("kind", &BoneLabelLaw::kind)
      .def_rw("modulus", &BoneLabelLaw::modulus)
      .def_rw("slope", &BoneLabelLaw::slope)
      .def_rw("intercept", &BoneLabelLaw::intercept)
      .def_rw("coefficient", &BoneLabelLaw::coefficient)
      .def_rw("exponent", &BoneLabelLaw::exponent)
      .def_rw("lower", &BoneLabelLaw::lower)
      .def_rw("upper", &BoneLabelLaw::upper)
      .def_rw("poisson", &BoneLabelLaw::poisson);
  nb::class_<BonePad>(module, "BonePad")
      .def(nb::init<>())
      .def_rw("label", &BonePad::label)
      .def_rw("modulus", &BonePad::modulus)
      .def_rw("poisson", &BonePad::poisson);
  nb::class_<BoneMask>(module, "BoneMask")
      .def(nb::init<>())
      .def_rw("bone", &BoneMask::bone)
      .def(
          "add_law", [](BoneMask& mask, const BoneLabelLaw& law) { mask.laws.push_back(law); },
          "law"_a)
      .def(
          "add_pad", [](BoneMask& mask, const BonePad& pad) { mask.pads.push_back(pad); }, "pad"_a);
  nb::class_<BoneAdaptation>(module, "BoneAdaptation")
      .def(nb::init<>())
      .def_rw("steps", &BoneAdaptation::steps)
      .def_rw("coefficient", &BoneAdaptation::coefficient)
      .def_rw("exponent", &BoneAdaptation::exponent)
      .def_rw("stimulus", &BoneAdaptation::stimulus)
      .def_rw("lazy", &BoneAdaptation::lazy)
      .def_rw("rate", &BoneAdaptation::rate)
      .def_rw("least", &BoneAdaptation::least)
      .def_rw("most", &BoneAdaptation::most);
}

/// The mask with its labels, where there are some; the array stays as it is during a call.
std::optional<BoneMask> mask_of(const std::optional<Labels>& labels, const BoneMask& choice) {
  if (!labels)
    return {};
  BoneMask mask = choice;
  mask.label = labels->data();
  mask.shape = {int(labels->shape(2)), int(labels->shape(1)), int(labels->shape(0))};
  return mask;
}

void bind_solves(nb::module_& module) {
  module.def(
      "solve_bone",
      [](const std::string& backend, const Image& image, double spacing, double poisson,
         const std::optional<Labels>& labels, const BoneMask& choice, const BoneTest& test,
         const BoneOptions& options, nb::object callback) {
        const BoneImage taken = image_of(image, spacing, poisson);
        const std::optional<BoneMask> mask = mask_of(labels, choice);
        return new Answer(Engine::instance().run(callback, [&](const Observer& observe) {
          return solve_bone(backend, taken, mask, test, options, observe);
        }));
      },
      "backend"_a, nb::arg("image").noconvert(), "spacing"_a, "poisson"_a,
      nb::arg("labels").noconvert().none(), "mask"_a, "test"_a, "options"_a,
      nb::arg("callback").none(), nb::rv_policy::take_ownership);
  module.def(
      "remodel_bone",
      [](const std::string& backend, const Image& density, double spacing, double poisson,
         const std::optional<Labels>& labels, const BoneMask& choice, const BoneTest& test,
         const BoneAdaptation& adaptation, const BoneOptions& options, nb::object callback) {
        const BoneImage taken = image_of(density, spacing, poisson);
        const std::optional<BoneMask> mask = mask_of(labels, choice);
        return new Answer(Engine::instance().run(callback, [&](const Observer& observe) {
          return remodel_bone(backend, taken, mask, test, adaptation, options, observe);
        }));
      },
      "backend"_a, nb::arg("density").noconvert(), "spacing"_a, "poisson"_a,
      nb::arg("labels").noconvert().none(), "mask"_a, "test"_a, "adaptation"_a, "options"_a,
      nb::arg("callback").none(), nb::rv_policy::take_ownership);
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
  bind_choices(module);
  bind_answer(module);
  bind_homogenised(module);
  bind_constants(module);
  bind_solves(module);
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
