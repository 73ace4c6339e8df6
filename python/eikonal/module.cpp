// SPDX-License-Identifier: Apache-2.0
#include "python/module.hpp"
#include "python/eikonal/model.hpp"
#include "python/engine/engine.hpp"
#include <ossatura/solvers/eikonal/activation_statistics.hpp>

#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <optional>

namespace nb = nanobind;
using namespace nb::literals;

namespace ossatura::python {

namespace {

template<class T, int columns>
using Rows = nb::ndarray<const T, nb::shape<-1, columns>, nb::c_contig, nb::device::cpu>;
using Tags = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using TagVelocities = std::map<int, std::array<double, 3>>;
using TetraVelocities = nb::ndarray<const double, nb::ndim<2>, nb::c_contig>;
template<class Real>
using Times = nb::ndarray<Real, nb::c_contig>;
template<class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig>;
using Model = Owned<EikonalModel>;

/// One of the two is there.
EikonalVelocities velocities_of(const std::optional<TagVelocities>& by_tag,
                                const std::optional<TetraVelocities>& by_tetra, bool is_one) {
  EikonalVelocities velocities;
  velocities.is_one = is_one;
  if (by_tag)
    velocities.by_tag.assign(by_tag->begin(), by_tag->end());
  if (by_tetra) {
    velocities.by_tetra = by_tetra->data();
    velocities.num_rows = std::int64_t(by_tetra->shape(0));
    velocities.num_columns = std::int64_t(by_tetra->shape(1));
  }
  return velocities;
}

std::unique_ptr<EikonalModel>
make_model(const std::string& backend, const Rows<double, 3>& points,
           const Rows<std::int32_t, 4>& tetra, const std::optional<Tags>& tags,
           const std::optional<Rows<float, 3>>& fibres, const std::optional<Rows<float, 3>>& sheets,
           const EikonalVelocities& velocities, const EikonalChoice& choice) {
  EikonalMesh mesh{points.data(), std::int64_t(points.shape(0)),
                   tetra.data(),  std::int64_t(tetra.shape(0)),
                   nullptr,       nullptr,
                   nullptr};
  if (tags)
    mesh.tag = tags->data();
  if (fibres)
    mesh.fibre = fibres->data();
  if (sheets)
    mesh.sheet = sheets->data();
  return Engine::instance().run([&] { return make_eikonal(backend, mesh, velocities, choice); });
}

template<class Real>
nb::dict solve(const Model& model, const std::vector<EikonalStart>& sets, nb::object callback,
               Times<Real> times) {
  if (std::int64_t(times.size()) != std::int64_t(sets.size()) * model->num_points())
    throw std::invalid_argument("out: not of the shape [sets, points]");
  const EikonalNumbers numbers = Engine::instance().run(
      callback, [&](const Observer& observe) { return model->solve(sets, times.data(), observe); });
  nb::dict dict;
  dict["iterations"] = numbers.iterations;
  dict["converged"] = numbers.converged;
  dict["is_steady"] = numbers.is_steady;
  dict["residual"] = numbers.residual;
  dict["certificate"] = numbers.certificate;
  dict["certificate_ms"] = numbers.certificate_ms;
  dict["seconds"] = numbers.seconds;
  dict["num_unreached"] = numbers.num_unreached;
  return dict;
}

template<class Real>
std::vector<double> gradient(const Model& model, const EikonalStart& sites,
                             const Vector<const Real>& times, const Vector<const double>& weight,
                             nb::ndarray<double, nb::shape<-1, 3>, nb::c_contig> out) {
  if (std::int64_t(times.shape(0)) != model->num_points() ||
      std::int64_t(weight.shape(0)) != model->num_points() ||
      std::int64_t(out.shape(0)) != model->num_tetra())
    throw std::invalid_argument("gradient: arrays of another mesh");
  return Engine::instance().run(
      [&] { return model->gradient(sites, times.data(), weight.data(), out.data()); });
}

using Blocked = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using HostTimes = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// (vertices that conduct, those apart from all sites, other unreached ones) of each set; the
/// blocked tetrahedra do not conduct. Sites that do not conduct have no effect.
std::vector<std::array<std::int64_t, 3>> count_unreached(const Rows<std::int32_t, 4>& tetra,
                                                         const std::optional<Blocked>& blocked,
                                                         const std::vector<EikonalStart>& sets,
                                                         const HostTimes& times) {
  const std::size_t n = times.shape(1), num_tetra = tetra.shape(0);
  if (times.shape(0) != sets.size() || (blocked && blocked->shape(0) != num_tetra))
    throw std::invalid_argument("eikonal_unreached: arrays of another mesh");
  return Engine::instance().run([&] {
    TetraMesh mesh;
    mesh.point.resize(3 * n);
    mesh.tetra.assign(tetra.data(), tetra.data() + 4 * num_tetra);
    std::vector<bool> is_blocked;
    if (blocked)
      is_blocked.assign(blocked->data(), blocked->data() + num_tetra);
    const ConductingParts parts(mesh, is_blocked);
    std::vector<std::array<std::int64_t, 3>> counts;
    for (std::size_t set = 0; set < sets.size(); ++set) {
      std::vector<std::int32_t> vertices;
      for (const auto& site : sets[set])
        if (parts.part_of(site.first) >= 0)
          vertices.push_back(site.first);
      const UnreachedVertices found =
          find_unreached(parts, {vertices}, ConstSpan<double>{times.data() + set * n, n});
      counts.push_back({found.num_vertices, found.num_apart, found.num_late});
    }
    return counts;
  });
}

} // namespace

void bind_eikonal(nb::module_& module) {
  nb::class_<EikonalChoice>(module, "EikonalChoice")
      .def(nb::init<>())
      .def_rw("is_double", &EikonalChoice::is_double)
      .def_rw("method", &EikonalChoice::method)
      .def_rw("deterministic", &EikonalChoice::deterministic)
      .def_rw("tolerance", &EikonalChoice::tolerance)
      .def_rw("max_iterations", &EikonalChoice::max_iterations);
  module.def("eikonal_unreached", count_unreached, "tetra"_a, nb::arg("blocked").none(), "sets"_a,
             "times"_a);
  module.def("eikonal_coarse_rounding", coarse_rounding, "earliest"_a, "latest"_a);
  nb::class_<Model>(module, "EikonalModel")
      .def(
          "__init__",
          [](Model* self, const std::string& backend, const Rows<double, 3>& points,
             const Rows<std::int32_t, 4>& tetra, const std::optional<Tags>& tags,
             const std::optional<Rows<float, 3>>& fibres,
             const std::optional<Rows<float, 3>>& sheets,
             const std::optional<TagVelocities>& by_tag,
             const std::optional<TetraVelocities>& by_tetra, bool is_one,
             const EikonalChoice& choice) {
            new (self) Model(make_model(backend, points, tetra, tags, fibres, sheets,
                                        velocities_of(by_tag, by_tetra, is_one), choice));
          },
          "backend"_a, "points"_a, "tetra"_a, nb::arg("tags").none(), nb::arg("fibres").none(),
          nb::arg("sheets").none(), nb::arg("by_tag").none(), nb::arg("by_tetra").none(),
          "is_one"_a, "choice"_a)
      .def(
          "set_velocities",
          [](const Model& model, const std::optional<TagVelocities>& by_tag,
             const std::optional<TetraVelocities>& by_tetra, bool is_one) {
            const EikonalVelocities velocities = velocities_of(by_tag, by_tetra, is_one);
            Engine::instance().run([&] { model->set_velocities(velocities); });
          },
          nb::arg("by_tag").none(), nb::arg("by_tetra").none(), "is_one"_a)
      .def("solve_double", solve<double>, "sets"_a, nb::arg("callback").none(),
           nb::arg("out").noconvert())
      .def("solve_single", solve<float>, "sets"_a, nb::arg("callback").none(),
           nb::arg("out").noconvert())
      .def("gradient_double", gradient<double>, "sites"_a, "times"_a, "weight"_a,
           nb::arg("out").noconvert())
      .def("gradient_single", gradient<float>, "sites"_a, "times"_a, "weight"_a,
           nb::arg("out").noconvert());
}

} // namespace ossatura::python
