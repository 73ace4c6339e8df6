// SPDX-License-Identifier: Apache-2.0
#include "python/module.hpp"
#include "python/engine/engine.hpp"
#include "python/softbody/model.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace ossatura::python {

namespace {

template<class T>
using Points = nb::ndarray<T, nb::shape<-1, 3>, nb::c_contig>;
using Elements = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Nodes = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Bodies = nb::ndarray<double, nb::shape<-1, 6>, nb::c_contig, nb::device::cpu>;
using Model = Owned<SoftModel>;

template<class Array>
auto copy_of(const Array& array) {
  return std::vector<std::remove_const_t<typename Array::Scalar>>(array.data(),
                                                                  array.data() + array.size());
}

void set_arrays(SoftBody& body, const Points<const double>& points, const Elements& elements,
                const Nodes& fixed, const std::optional<Points<const double>>& load,
                const std::optional<Points<const double>>& velocity) {
  body.point = copy_of(points);
  body.node = copy_of(elements);
  body.nodes_per_elem = int(elements.shape(1));
  body.fixed = copy_of(fixed);
  if (load)
    body.load = copy_of(*load);
  if (velocity)
    body.velocity = copy_of(*velocity);
}

nb::dict dict_of(const SoftNumbers& numbers) {
  nb::dict dict;
  dict["time"] = numbers.time;
  dict["converged"] = numbers.converged;
  dict["newton_iterations"] = numbers.newton_iterations;
  dict["iterations"] = numbers.iterations;
  dict["residual"] = numbers.residual;
  dict["halvings"] = numbers.halvings;
  dict["inverted"] = numbers.inverted;
  dict["contacts"] = numbers.contacts;
  dict["penetration"] = numbers.penetration;
  dict["seconds"] = numbers.seconds;
  return dict;
}

void require_size(std::size_t size, const Model& model) {
  if (std::int64_t(size) != model->num_points())
    throw std::invalid_argument(std::to_string(size) + " points, and the world has " +
                                std::to_string(model->num_points()));
}

template<void (SoftModel::*get)(double*) const>
void get_points(const Model& model, Points<double> out) {
  require_size(out.shape(0), model);
  Engine::instance().run([&] { ((*model.operator->()).*get)(out.data()); });
}

template<void (SoftModel::*set)(const double*)>
void set_points(const Model& model, const Points<const double>& values) {
  require_size(values.shape(0), model);
  Engine::instance().run([&] { ((*model.operator->()).*set)(values.data()); });
}

/// (iterations, residual, converged); by_positions and by_velocities are changed in place.
nb::tuple pull_back(const Model& model, const Points<const double>& start_velocities,
                    const Points<const double>& positions, const Points<const double>& velocities,
                    Points<double> by_positions, Points<double> by_velocities,
                    Points<double> by_loads, Bodies by_bodies) {
  for (const std::size_t size : {start_velocities.shape(0), positions.shape(0), velocities.shape(0),
                                 by_positions.shape(0), by_velocities.shape(0), by_loads.shape(0)})
    require_size(size, model);
  const SoftAdjointNumbers found = Engine::instance().run([&] {
    return model->pull_back(
        start_velocities.data(), positions.data(), velocities.data(),
        {by_positions.data(), by_velocities.data(), by_loads.data(), by_bodies.data()});
  });
  return nb::make_tuple(found.iterations, found.residual, found.converged);
}

void bind_input(nb::module_& module) {
  nb::class_<SoftBody>(module, "SoftBody")
      .def(nb::init<>())
      .def_rw("name", &SoftBody::name)
      .def_rw("law", &SoftBody::law)
      .def_rw("young", &SoftBody::young)
      .def_rw("poisson", &SoftBody::poisson)
      .def_rw("c1", &SoftBody::c1)
      .def_rw("c2", &SoftBody::c2)
      .def_rw("bulk", &SoftBody::bulk)
      .def_rw("thickness", &SoftBody::thickness)
      .def_rw("density", &SoftBody::density)
      .def("set_arrays", set_arrays, "points"_a, "elements"_a, "fixed"_a, nb::arg("load").none(),
           nb::arg("velocity").none());
  nb::class_<SoftWall>(module, "SoftWall")
      .def(nb::init<>())
      .def_rw("is_sphere", &SoftWall::is_sphere)
      .def_rw("point", &SoftWall::point)
      .def_rw("normal", &SoftWall::normal)
      .def_rw("radius", &SoftWall::radius)
      .def_rw("friction", &SoftWall::friction);
  nb::class_<SoftWorld>(module, "SoftWorld")
      .def(nb::init<>())
      .def("add_body", [](SoftWorld& world, const SoftBody& body) { world.bodies.push_back(body); })
      .def("add_wall", [](SoftWorld& world, const SoftWall& wall) { world.walls.push_back(wall); })
      .def_rw("gravity", &SoftWorld::gravity)
      .def_rw("contact_between_objects", &SoftWorld::contact_between_objects)
      .def_rw("contact_friction", &SoftWorld::contact_friction)
      .def_rw("contact_distance", &SoftWorld::contact_distance)
      .def_rw("time_step", &SoftWorld::time_step)
      .def_rw("rayleigh_mass", &SoftWorld::rayleigh_mass)
      .def_rw("rayleigh_stiffness", &SoftWorld::rayleigh_stiffness)
      .def_rw("newton_iterations", &SoftWorld::newton_iterations)
      .def_rw("tolerance", &SoftWorld::tolerance)
      .def_rw("max_iterations", &SoftWorld::max_iterations);
}

} // namespace

void bind_softbody(nb::module_& module) {
  bind_input(module);
  nb::class_<Model>(module, "SoftModel")
      .def(
          "__init__",
          [](Model* self, const std::string& backend, const SoftWorld& world) {
            new (self) Model(Engine::instance().run([&] { return make_soft(backend, world); }));
          },
          "backend"_a, "world"_a)
      .def("step",
           [](const Model& model) {
             return dict_of(Engine::instance().run([&] { return model->step(); }));
           })
      .def("time",
           [](const Model& model) { return Engine::instance().run([&] { return model->time(); }); })
      .def("energy",
           [](const Model& model) {
             return Engine::instance().run([&] { return model->energy(); });
           })
      .def("positions", get_points<&SoftModel::positions>, nb::arg("out").noconvert())
      .def("velocities", get_points<&SoftModel::velocities>, nb::arg("out").noconvert())
      .def("set_loads", set_points<&SoftModel::set_loads>, "load"_a)
      .def(
          "set_moduli",
          [](const Model& model, std::size_t index, const SoftBody& body) {
            Engine::instance().run([&] { model->set_moduli(index, body); });
          },
          "index"_a, "body"_a)
      .def("pull_back", pull_back, "start_velocities"_a, "positions"_a, "velocities"_a,
           nb::arg("by_positions").noconvert(), nb::arg("by_velocities").noconvert(),
           nb::arg("by_loads").noconvert(), nb::arg("by_bodies").noconvert())
      .def("set_fixed_velocities", set_points<&SoftModel::set_fixed_velocities>, "velocity"_a)
      .def(
          "set_state",
          [](const Model& model, const Points<const double>& positions,
             const Points<const double>& velocities, double time) {
            require_size(positions.shape(0), model);
            require_size(velocities.shape(0), model);
            Engine::instance().run(
                [&] { model->set_state(positions.data(), velocities.data(), time); });
          },
          "positions"_a, "velocities"_a, "time"_a);
}

} // namespace ossatura::python
