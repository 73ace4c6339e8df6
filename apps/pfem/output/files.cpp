// SPDX-License-Identifier: Apache-2.0
#include "apps/pfem/output/files.hpp"

#include <ossatura/core/base/require.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

double von_mises(const double* s) {
  const double a = s[0] - s[1], b = s[1] - s[2], c = s[2] - s[0];
  return std::sqrt(0.5 * (a * a + b * b + c * c) + 3 * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5]));
}

std::size_t cube(int n) {
  return std::size_t(n) * std::size_t(n) * std::size_t(n);
}

std::vector<double> uniform_points(int points) {
  std::vector<double> xi(std::size_t(points), 0.0);
  for (int q = 0; q < points; ++q)
    xi[std::size_t(q)] = -1 + 2.0 * q / (points - 1);
  return xi;
}

/// Positions and Jacobians of the elements begin .. end - 1 of the list.
PfemBlock start_block(const PfemModel& model, const HexaMap& map, const std::vector<int>& elem,
                      std::int64_t begin, std::int64_t end, const std::vector<double>& xi) {
  PfemBlock block;
  const std::size_t n = xi.size();
  block.points = int(n);
  block.elem.assign(elem.begin() + begin, elem.begin() + end);
  block.order = model.numbering.order[std::size_t(block.elem[0])];
  block.x.resize(3 * cube(block.points) * block.elem.size());
  block.jacobian.resize(3 * block.x.size());
  std::size_t i = 0;
  for (const std::int32_t e : block.elem)
    for (std::size_t q = 0; q < cube(block.points); ++q, ++i) {
      double x[3], jacobian[9];
      map.evaluate(e, {xi[q / (n * n)], xi[q / n % n], xi[q % n]}, x, jacobian);
      std::copy(x, x + 3, &block.x[3 * i]);
      std::copy(jacobian, jacobian + 9, &block.jacobian[9 * i]);
    }
  return block;
}

} // namespace

int grid_points(int samples, int order) {
  return 1 + (samples > 0 ? samples : order);
}

struct PfemFile::Fields {
  Hdf5Field points, connectivity, displacement, stress, von_mises, energy, element, order;
};

namespace {

std::pair<std::uint64_t, std::uint64_t> grid_size(const PfemModel& model, int samples) {
  std::uint64_t points = 0, cells = 0;
  for (const auto& [order, count] : model.elements_by_order()) {
    const int n = grid_points(samples, order);
    points += std::uint64_t(count) * cube(n);
    cells += std::uint64_t(count) * cube(n - 1);
  }
  return {points, cells};
}

} // namespace

PfemFile::PfemFile(const std::string& path, const PfemModel& model, int samples,
                   Hdf5Compression compression)
    : file_(path, compression) {
  const auto [points, cells] = grid_size(model, samples);
  file_.begin_mesh(points, cells, VtkCell::hexahedron);
  fields_.reset(new Fields{
      file_.points_field<double>(), file_.connectivity_field(),
      file_.point_field<double>("displacement", 3), file_.point_field<double>("stress", 6),
      file_.point_field<double>("von_mises"), file_.point_field<double>("strain_energy_density"),
      file_.cell_field<std::int32_t>("element"), file_.cell_field<std::uint8_t>("order")});
  fields_->displacement.set_unit("m");
  fields_->stress.set_unit("Pa");
  fields_->von_mises.set_unit("Pa");
  fields_->energy.set_unit("J/m3");
}

PfemFile::~PfemFile() = default;

void PfemFile::add(const PfemBlock& block) {
  if (!failure_.empty())
    return;
  try {
    append(block);
  } catch (const InputError& error) {
    failure_ = error.what();
  }
}

void PfemFile::append(const PfemBlock& block) {
  Fields& f = *fields_;
  f.points.append(block.x);
  f.displacement.append(block.displacement);
  f.energy.append(block.energy);
  const std::size_t num_points = block.energy.size();
  std::vector<double> stress(6 * num_points), equivalent(num_points);
  constexpr std::size_t place[6] = {0, 1, 2, 4, 5, 3}; // in VTK's order xx yy zz xy yz xz
  for (std::size_t i = 0; i < num_points; ++i) {
    for (std::size_t r = 0; r < 6; ++r)
      stress[6 * i + place[r]] = block.stress[6 * i + r];
    equivalent[i] = von_mises(&block.stress[6 * i]);
  }
  f.stress.append(stress);
  f.von_mises.append(equivalent);

  const std::int64_t n = block.points;
  std::vector<std::int64_t> corner;
  std::vector<std::int32_t> element;
  for (std::size_t e = 0; e < block.elem.size(); ++e) {
    const std::int64_t first = num_points_ + std::int64_t(e) * n * n * n;
    for (std::int64_t i = 0; i + 1 < n; ++i)
      for (std::int64_t j = 0; j + 1 < n; ++j)
        for (std::int64_t k = 0; k + 1 < n; ++k) {
          const auto at = [&](int a, int b, int c) {
            corner.push_back(first + ((i + a) * n + j + b) * n + k + c);
          };
          for (int c = 0; c < 2; ++c) {
            at(0, 0, c);
            at(1, 0, c);
            at(1, 1, c);
            at(0, 1, c);
          }
          element.push_back(block.elem[e]);
        }
  }
  f.connectivity.append(corner);
  f.element.append(element);
  f.order.append(std::vector<std::uint8_t>(element.size(), std::uint8_t(block.order)));
  num_points_ += std::int64_t(num_points);
}

void PfemFile::commit(const PfemFacts& facts) {
  if (!failure_.empty())
    throw InputError(failure_);
  fields_.reset();
  file_.set_run(facts);
  file_.commit();
}

void add_peaks(const PfemModel& model, const PfemBlock& block, PfemResults& results) {
  const std::size_t of_elem = cube(block.points);
  for (std::size_t i = 0; i < block.energy.size(); ++i) {
    const double* u = &block.displacement[3 * i];
    const double* place = &block.x[3 * i];
    const std::int64_t elem = block.elem[i / of_elem];
    results.displacement.include(std::hypot(u[0], u[1], u[2]), place, elem);
    results.von_mises.include(von_mises(&block.stress[6 * i]), place, elem);
    if (model.exact) {
      double expected[3];
      model.exact->displacement({place[0], place[1], place[2]}, expected);
      results.errors->displacement =
          std::max(results.errors->displacement,
                   std::hypot(u[0] - expected[0], u[1] - expected[1], u[2] - expected[2]));
    }
  }
  results.num_samples += std::int64_t(block.energy.size());
}

template<class Exec>
void sample_all(const Exec& exec, const PfemModel& model, const HierarchicModel<Exec>& hexas,
                const Array<double, Exec>& u, int samples, PfemFile* file, PfemResults& results) {
  const std::shared_ptr<const HexaMap> map =
      model.shape.map ? model.shape.map : make_trilinear_map(model.shape.mesh);
  for (const HexaBatch<Exec>& batch : hexas.batch) {
    const std::vector<double> xi = uniform_points(grid_points(samples, batch.order));
    const HexaGrid<Exec> grid = make_hexa_grid(exec, batch, xi);
    const std::vector<int> elem = download(exec, batch.elem);
    const std::int64_t of_elem = std::int64_t(cube(grid.points));
    const std::int64_t step = std::max<std::int64_t>(1, samples_at_a_time / of_elem);
    const std::int64_t most = std::min(step, batch.num_elem) * of_elem;
    HexaSamples<Exec> values;
    values.displacement =
        make_uninitialized<double>(exec, 3 * most, "ossatura::pfem::displacement");
    values.stress = make_uninitialized<double>(exec, 6 * most, "ossatura::pfem::stress");
    values.energy = make_uninitialized<double>(exec, most, "ossatura::pfem::energy");
    for (std::int64_t begin = 0; begin < batch.num_elem; begin += step) {
      const std::int64_t end = std::min(begin + step, batch.num_elem);
      PfemBlock block = start_block(model, *map, elem, begin, end, xi);
      sample_hexas(exec, batch, grid, begin, end,
                   upload(exec, "ossatura::pfem::jacobian", block.jacobian), u, values);
      const std::size_t n = std::size_t((end - begin) * of_elem);
      const auto take = [&exec](const Array<double, Exec>& from, std::size_t count) {
        std::vector<double> all = download(exec, from);
        all.resize(count);
        return all;
      };
      block.displacement = take(values.displacement, 3 * n);
      block.stress = take(values.stress, 6 * n);
      block.energy = take(values.energy, n);
      add_peaks(model, block, results);
      if (file != nullptr)
        file->add(block);
    }
  }
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template void sample_all(const Exec&, const PfemModel&, const HierarchicModel<Exec>&,            \
                           const Array<double, Exec>&, int, PfemFile*, PfemResults&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
