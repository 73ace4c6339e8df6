// SPDX-License-Identifier: Apache-2.0
#include "apps/pfem/output/files.hpp"

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/machine/processors.hpp>

#include <algorithm>
#include <cmath>
#include <type_traits>

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

/// Sets positions and Jacobians of the elements begin .. end - 1 of the list, and makes room for
/// what is computed there.
void start_block(const PfemModel& model, const HexaMap& map, const std::vector<int>& elem,
                 std::int64_t begin, std::int64_t end, const std::vector<double>& xi,
                 PfemBlock& block) {
  block.points = int(xi.size());
  block.elem.assign(elem.begin() + begin, elem.begin() + end);
  block.order = model.numbering.order[std::size_t(block.elem[0])];
  const std::size_t n = cube(block.points) * block.elem.size();
  block.x.resize(3 * n);
  block.jacobian.resize(9 * n);
  block.displacement.resize(3 * n);
  block.stress.resize(6 * n);
  block.energy.resize(n);
  evaluate_at_grid(map, block.elem.data(), block.elem.size(), xi, block.x.data(),
                   block.jacobian.data());
}

} // namespace

std::int64_t samples_at_a_time() {
  constexpr std::int64_t of_thread = 1 << 16, least = 1 << 18, most = 1 << 20;
  return std::clamp(io_threads() * of_thread, least, most);
}

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
  const std::uint64_t num_points = block.energy.size();
  f.points.append(block.x);
  f.displacement.append(block.displacement);
  f.energy.append(block.energy);
  f.stress.append_made<double>(
      num_points, [&](std::uint64_t first, std::uint64_t count, double* stress) {
        constexpr std::size_t place[6] = {0, 1, 2, 4, 5, 3}; // in VTK's order xx yy zz xy yz xz
        for (std::size_t i = 0; i < count; ++i)
          for (std::size_t r = 0; r < 6; ++r)
            stress[6 * i + place[r]] = block.stress[6 * (first + i) + r];
      });
  f.von_mises.append_made<double>(
      num_points, [&](std::uint64_t first, std::uint64_t count, double* equivalent) {
        for (std::size_t i = 0; i < count; ++i)
          equivalent[i] = von_mises(&block.stress[6 * (first + i)]);
      });

  // Corners of the cells of an element, from its first point on.
  const std::int64_t n = block.points;
  std::vector<std::int64_t> corner;
  for (std::int64_t i = 0; i + 1 < n; ++i)
    for (std::int64_t j = 0; j + 1 < n; ++j)
      for (std::int64_t k = 0; k + 1 < n; ++k)
        for (std::int64_t c = 0; c < 2; ++c)
          for (const auto& [a, b] : {std::pair(0, 0), {1, 0}, {1, 1}, {0, 1}})
            corner.push_back(((i + a) * n + j + b) * n + k + c);
  f.connectivity.append_indices(
      corner.size() * block.elem.size(), [&](std::uint64_t first, std::uint64_t count, auto* to) {
        for (std::uint64_t i = first; i < first + count; ++i)
          to[i - first] = std::decay_t<decltype(*to)>(num_points_ +
                                                      std::int64_t(i / corner.size()) * n * n * n +
                                                      corner[i % corner.size()]);
      });
  const std::size_t of_elem = corner.size() / 8;
  f.element.append_made<std::int32_t>(
      of_elem * block.elem.size(),
      [&](std::uint64_t first, std::uint64_t count, std::int32_t* element) {
        for (std::uint64_t i = first; i < first + count; ++i)
          element[i - first] = block.elem[i / of_elem];
      });
  f.order.append(std::vector<std::uint8_t>(of_elem * block.elem.size(), std::uint8_t(block.order)));
  num_points_ += std::int64_t(num_points);
}

void PfemFile::commit(const PfemFacts& facts) {
  if (!failure_.empty())
    throw InputError(failure_);
  fields_.reset();
  file_.set_run(facts);
  file_.commit();
}

namespace {

/// Of the points first .. end - 1 of a block.
PfemPeaks peaks_of(const PfemModel& model, const PfemBlock& block, std::size_t first,
                   std::size_t end) {
  const std::size_t of_elem = cube(block.points);
  PfemPeaks peaks;
  for (std::size_t i = first; i < end; ++i) {
    const double* u = &block.displacement[3 * i];
    const double* place = &block.x[3 * i];
    const std::int64_t elem = block.elem[i / of_elem];
    peaks.displacement.include(std::hypot(u[0], u[1], u[2]), place, elem);
    peaks.von_mises.include(von_mises(&block.stress[6 * i]), place, elem);
    if (model.exact) {
      double expected[3];
      model.exact->displacement({place[0], place[1], place[2]}, expected);
      peaks.error = std::max(
          peaks.error, std::hypot(u[0] - expected[0], u[1] - expected[1], u[2] - expected[2]));
    }
  }
  return peaks;
}

} // namespace

void add_peaks(const PfemModel& model, const PfemBlock& block, PfemResults& results) {
  // In parts of one size, one after the other: of equal values the first counts.
  constexpr std::size_t part = 4096;
  const std::size_t num_points = block.energy.size();
  std::vector<PfemPeaks> peaks((num_points + part - 1) / part);
  for_parts(peaks.size(), 1, [&](std::size_t first, std::size_t end) {
    for (std::size_t k = first; k < end; ++k)
      peaks[k] = peaks_of(model, block, k * part, std::min((k + 1) * part, num_points));
  });
  for (const PfemPeaks& one : peaks) {
    results.displacement.include(one.displacement);
    results.von_mises.include(one.von_mises);
    if (model.exact)
      results.errors->displacement = std::max(results.errors->displacement, one.error);
  }
  results.num_samples += std::int64_t(num_points);
}

template<class Exec>
void sample_all(const Exec& exec, const PfemModel& model, const HierarchicModel<Exec>& hexas,
                const Array<double, Exec>& u, int samples, PfemFile* file, PfemResults& results) {
  const std::shared_ptr<const HexaMap> map =
      model.shape.map ? model.shape.map : make_trilinear_map(model.shape.mesh);
  PfemBlock block;
  for (const HexaBatch<Exec>& batch : hexas.batch) {
    const std::vector<double> xi = uniform_points(grid_points(samples, batch.order));
    const HexaGrid<Exec> grid = make_hexa_grid(exec, batch, xi);
    const std::vector<int> elem = download(exec, batch.elem);
    const std::int64_t of_elem = std::int64_t(cube(grid.points));
    const std::int64_t step = std::max<std::int64_t>(1, samples_at_a_time() / of_elem);
    const std::int64_t most = std::min(step, batch.num_elem) * of_elem;
    HexaSamples<Exec> values;
    values.displacement =
        make_uninitialized<double>(exec, 3 * most, "ossatura::pfem::displacement");
    values.stress = make_uninitialized<double>(exec, 6 * most, "ossatura::pfem::stress");
    values.energy = make_uninitialized<double>(exec, most, "ossatura::pfem::energy");
    const Array<double, Exec> jacobian =
        make_uninitialized<double>(exec, 9 * most, "ossatura::pfem::jacobian");
    for (std::int64_t begin = 0; begin < batch.num_elem; begin += step) {
      const std::int64_t end = std::min(begin + step, batch.num_elem);
      start_block(model, *map, elem, begin, end, xi, block);
      upload_to(exec, block.jacobian,
                Array<double, Exec>(
                    Kokkos::subview(jacobian, std::pair(std::size_t(0), block.jacobian.size()))));
      sample_hexas(exec, batch, grid, begin, end, jacobian, u, values);
      download_to(exec, values.displacement, block.displacement);
      download_to(exec, values.stress, block.stress);
      download_to(exec, values.energy, block.energy);
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
