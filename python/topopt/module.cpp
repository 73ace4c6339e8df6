// SPDX-License-Identifier: Apache-2.0
#include "python/module.hpp"
#include "python/engine/engine.hpp"
#include "python/topopt/model.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace ossatura::python {

namespace {

template<class T, int columns>
using Rows = nb::ndarray<T, nb::shape<-1, columns>, nb::c_contig>;
template<class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig>;
using Model = Owned<DesignModel>;

nb::dict dict_of(const DesignNumbers& numbers) {
  nb::dict dict;
  dict["number"] = numbers.number;
  dict["objective"] = numbers.objective;
  dict["cases"] = nb::tuple(nb::cast(numbers.cases));
  dict["volume"] = numbers.volume;
  dict["grey"] = numbers.grey;
  dict["change"] = numbers.change;
  dict["penalty"] = numbers.penalty;
  dict["iterations"] = nb::tuple(nb::cast(numbers.iterations));
  return dict;
}

std::unique_ptr<DesignModel> make_model(const std::string& backend,
                                        const Rows<const double, 3>& points,
                                        const Rows<const std::int32_t, 8>& hexa, double young,
                                        double poisson, const Vector<const std::uint8_t>& held,
                                        const std::optional<Vector<const std::uint8_t>>& roles,
                                        const std::vector<Rows<const double, 3>>& loads,
                                        const std::vector<double>& weights,
                                        const std::vector<std::pair<int, double>>& mirrors,
                                        const DesignChoice& choice, bool says_unit) {
  DesignInput input{points.data(),
                    std::int64_t(points.shape(0)),
                    hexa.data(),
                    std::int64_t(hexa.shape(0)),
                    young,
                    poisson,
                    held.data(),
                    roles ? roles->data() : nullptr,
                    {},
                    mirrors,
                    says_unit};
  for (std::size_t i = 0; i < loads.size(); ++i)
    input.cases.emplace_back(loads[i].data(), weights.at(i));
  return Engine::instance().run([&] { return make_design(backend, input, choice); });
}

void require_size(std::size_t size, std::int64_t wanted) {
  if (std::int64_t(size) != wanted)
    throw std::invalid_argument("an array of " + std::to_string(size) + " entries, not " +
                                std::to_string(wanted));
}

template<void (DesignModel::*get)(double*) const>
void get_elements(const Model& model, Vector<double> out) {
  require_size(out.shape(0), model->num_elem());
  Engine::instance().run([&] { ((*model.operator->()).*get)(out.data()); });
}

nb::dict analyse(const Model& model, const std::optional<Vector<const double>>& x,
                 Vector<double> objective_gradient, Vector<double> volume_gradient) {
  if (x)
    require_size(x->shape(0), model->num_elem());
  require_size(objective_gradient.shape(0), model->num_elem());
  require_size(volume_gradient.shape(0), model->num_elem());
  return dict_of(Engine::instance().run([&] {
    return model->analyse(x ? x->data() : nullptr, objective_gradient.data(),
                          volume_gradient.data());
  }));
}

/// A part of the mesh, [rows, columns], which the model owns.
template<class T, int columns>
nb::ndarray<nb::numpy, const T, nb::shape<-1, columns>> view_of(nb::handle self, const T* data,
                                                                std::int64_t rows) {
  return {data, {std::size_t(rows), columns}, self};
}

void bind_choice(nb::module_& module) {
  nb::class_<DesignChoice>(module, "DesignChoice")
      .def(nb::init<>())
      .def_rw("volume", &DesignChoice::volume)
      .def_rw("radius", &DesignChoice::radius)
      .def_rw("min_modulus", &DesignChoice::min_modulus)
      .def_rw("move", &DesignChoice::move)
      .def_rw("multiplier_tolerance", &DesignChoice::multiplier_tolerance)
      .def_rw("change_tolerance", &DesignChoice::change_tolerance)
      .def_rw("penalty", &DesignChoice::penalty)
      .def_rw("filter", &DesignChoice::filter)
      .def_rw("method", &DesignChoice::method)
      .def_rw("max_steps", &DesignChoice::max_steps)
      .def_rw("tolerance", &DesignChoice::tolerance)
      .def_rw("step_tolerance", &DesignChoice::step_tolerance)
      .def_rw("max_iterations", &DesignChoice::max_iterations);
}

} // namespace

void bind_topopt(nb::module_& module) {
  bind_choice(module);
  nb::class_<Model>(module, "DesignModel")
      .def(
          "__init__",
          [](Model* self, const std::string& backend, const Rows<const double, 3>& points,
             const Rows<const std::int32_t, 8>& hexa, double young, double poisson,
             const Vector<const std::uint8_t>& held,
             const std::optional<Vector<const std::uint8_t>>& roles,
             const std::vector<Rows<const double, 3>>& loads, const std::vector<double>& weights,
             const std::vector<std::pair<int, double>>& mirrors, const DesignChoice& choice,
             bool says_unit) {
            new (self) Model(make_model(backend, points, hexa, young, poisson, held, roles, loads,
                                        weights, mirrors, choice, says_unit));
          },
          "backend"_a, "points"_a, "hexa"_a, "young"_a, "poisson"_a, "held"_a,
          nb::arg("roles").none(), "loads"_a, "weights"_a, "mirrors"_a, "choice"_a, "says_unit"_a)
      .def("points",
           [](nb::handle self) {
             const Model& model = nb::cast<const Model&>(self);
             return view_of<double, 3>(self, model->points(), model->num_points());
           })
      .def("hexa",
           [](nb::handle self) {
             const Model& model = nb::cast<const Model&>(self);
             return view_of<std::int32_t, 8>(self, model->hexa(), model->num_elem());
           })
      .def("radius", [](const Model& model) { return model->radius(); })
      .def("is_done",
           [](const Model& model) {
             return Engine::instance().run([&] { return model->is_done(); });
           })
      .def("has_converged",
           [](const Model& model) {
             return Engine::instance().run([&] { return model->has_converged(); });
           })
      .def("step",
           [](const Model& model) {
             return dict_of(Engine::instance().run([&] { return model->step(); }));
           })
      .def("analyse", analyse, nb::arg("x").none(), nb::arg("objective_gradient").noconvert(),
           nb::arg("volume_gradient").noconvert())
      .def(
          "set_variables",
          [](const Model& model, const Vector<const double>& x) {
            require_size(x.shape(0), model->num_elem());
            Engine::instance().run([&] { model->set_variables(x.data()); });
          },
          "x"_a)
      .def("densities", get_elements<&DesignModel::densities>, nb::arg("out").noconvert())
      .def("variables", get_elements<&DesignModel::variables>, nb::arg("out").noconvert())
      .def("energies", get_elements<&DesignModel::energies>, nb::arg("out").noconvert())
      .def(
          "displacement",
          [](const Model& model, int which, Rows<double, 3> out) {
            require_size(out.shape(0), model->num_points());
            Engine::instance().run([&] { model->displacement(which, out.data()); });
          },
          "case"_a, nb::arg("out").noconvert());
}

} // namespace ossatura::python
