// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/output/files.hpp"

#include <ossatura/core/io/hdf5/parosol_output.hpp>
#include <ossatura/core/io/hdf5/vtkhdf.hpp>
#include <ossatura/core/io/image/world_frame.hpp>
#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/kernels/algebra/host_blocks.hpp>

#include <algorithm>

namespace ossatura {

namespace {

/// Coordinates [count, 3] in the world, in mm, of the nodes at `sites`, to `points`.
template<class Exec>
void place_nodes(const BoneModel<Exec>& model, const std::uint64_t* sites, std::size_t count,
                 double* points) {
  for (std::size_t node = 0; node < count; ++node) {
    const Site s = detail::unpack_site(sites[node]);
    points[3 * node] = model.edge * s.x;
    points[3 * node + 1] = model.edge * s.y;
    points[3 * node + 2] = model.edge * s.z;
  }
  if (!is_identity(model.direction))
    turn_vectors(model.direction, points, count, points);
  for (std::size_t i = 0; i < 3 * count; ++i)
    points[i] += model.origin[i % 3];
}

/// The corners of voxels, entries first to first + count, as those of hexahedra: around the lower
/// face, then around the upper one; where the image is mirrored, the faces change places, so that
/// volumes stay positive.
template<class Index>
void order_corners(const ImageDirection& direction, const int* corners, std::size_t first,
                   std::size_t count, Index* hexahedra) {
  constexpr std::size_t order[8] = {0, 1, 3, 2, 4, 5, 7, 6};
  const std::size_t swap = is_mirrored(direction) ? 4 : 0;
  for (std::size_t i = first; i < first + count; ++i)
    hexahedra[i - first] = Index(corners[i - i % 8 + order[(i % 8 + swap) % 8]]);
}

/// Young's moduli of voxels in MPa, on the host.
template<class Exec>
class ModulusTable {
public:
  explicit ModulusTable(const LameField<Exec>& lame) {
    const auto to_host = [](const Array<float, Exec>& values) {
      return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), values);
    };
    lame_.lambda_scale = lame.lambda_scale;
    lame_.mu_scale = lame.mu_scale;
    lame_.lambda_value = to_host(lame.lambda_value);
    lame_.mu_value = to_host(lame.mu_value);
  }
  /// Of the voxels whose lowest nodes are `element`.
  void look_up(const int* element, std::size_t count, double* modulus) const {
    for (std::size_t e = 0; e < count; ++e)
      modulus[e] = lame_.modulus(element[e]);
  }

private:
  LameField<Kokkos::DefaultHostExecutionSpace> lame_;
};

/// Appends `rows_per_row` rows of the field for each row of `array` [rows, columns], block by
/// block: `convert(values, first, count, to)` makes rows first to first + count of those of a
/// block, whose entries are `values`.
template<class To, class From, class Exec, class Convert>
void append_converted(HostBlocks<Exec>& blocks, const Array<From, Exec>& array, std::size_t columns,
                      VtkHdfField field, std::size_t rows_per_row, const Convert& convert) {
  blocks.for_each(array, columns, [&](const From* values, std::size_t, std::size_t rows) {
    field.template append_made<To>(rows_per_row * rows,
                                   [&](std::uint64_t first, std::uint64_t count, To* to) {
                                     convert(values, std::size_t(first), std::size_t(count), to);
                                   });
  });
}

template<class T, class Exec>
void append(HostBlocks<Exec>& blocks, const Array<T, Exec>& array, std::size_t columns,
            VtkHdfField field) {
  blocks.for_each(array, columns, [&](const T* values, std::size_t, std::size_t rows) {
    field.append(ConstSpan<T>(values, columns * rows));
  });
}

template<class Exec>
void write_mesh(const Exec& exec, const BoneModel<Exec>& model, const BoneSolution<Exec>& solution,
                HostBlocks<Exec>& blocks, VtkHdfWriter& file) {
  const TimedScope scope("ossatura::bone::write_mesh");
  const bool turned = !is_identity(model.direction); // VTK's voxels lie along its axes
  file.begin_mesh(std::uint64_t(solution.grid.num_nodes), solution.fields.element.extent(0),
                  turned ? VtkCell::hexahedron : VtkCell::voxel);
  append_converted<double>(
      blocks, list_sites(exec, solution.grid), 1, file.points_field<double>(), 1,
      [&](const std::uint64_t* sites, std::size_t first, std::size_t count, double* points) {
        place_nodes(model, sites + first, count, points);
      });
  append_converted<std::int64_t>(
      blocks, list_corners(exec, solution.grid, solution.fields.element), 8,
      file.connectivity_field(), 8,
      [&](const int* corners, std::size_t first, std::size_t count, std::int64_t* to) {
        if (turned)
          order_corners(model.direction, corners, first, count, to);
        else
          std::copy_n(corners + first, count, to);
      });
}

} // namespace

template<class Exec>
void write_fields(const Exec& exec, const std::string& path, const BoneOptions& options,
                  const BoneModel<Exec>& model, const VoxelProblem<Exec>& problem,
                  const BoneLoad<Exec>& load, const BoneSolution<Exec>& solution,
                  const std::string& status, const DriverContext& context) {
  const TimedScope scope("ossatura::bone::write_fields");
  const auto wants = [&](const char* name) {
    return std::find(options.fields.begin(), options.fields.end(), name) != options.fields.end();
  };
  const bool turned = !is_identity(model.direction);
  VtkHdfWriter file(path, options.common.compress);
  HostBlocks<Exec> blocks(exec);
  write_mesh(exec, model, solution, blocks, file);
  const auto write_vectors = [&](const char* name, const Array<double, Exec>& values,
                                 const char* unit) {
    VtkHdfField field = file.point_field<double>(name, 3);
    field.set_unit(unit);
    if (turned)
      append_converted<double>(
          blocks, values, 3, std::move(field), 1,
          [&](const double* v, std::size_t first, std::size_t count, double* to) {
            turn_vectors(model.direction, v + 3 * first, count, to);
          });
    else
      append(blocks, values, 3, std::move(field));
  };
  if (wants("displacement"))
    write_vectors("displacement", solution.displacement, "mm");
  // With these the residual and the reactions can be computed from the file alone.
  append(blocks, problem.held.mask, 1, file.point_field<std::uint8_t>("held"));
  if (load.force.extent(0) > 0)
    write_vectors("load", load.force, "N");
  if (wants("modulus")) {
    const ModulusTable<Exec> table(solution.lame);
    VtkHdfField field = file.cell_field<double>("modulus");
    field.set_unit("MPa");
    append_converted<double>(
        blocks, solution.fields.element, 1, std::move(field), 1,
        [&](const int* element, std::size_t first, std::size_t count, double* modulus) {
          table.look_up(element + first, count, modulus);
        });
  }
  const auto cells = [&](const char* name, int components, const char* unit) {
    VtkHdfField field = file.cell_field<float>(name, components);
    field.set_unit(unit);
    return field;
  };
  const auto write_cells = [&](const char* name, const Array<float, Exec>& values,
                               const char* unit) {
    if (wants(name))
      append(blocks, values, 1, cells(name, 1, unit));
  };
  const auto write_tensors = [&](const char* name, const Array<float, Exec>& values, double shear,
                                 const char* unit) {
    if (!wants(name))
      return;
    if (turned)
      append_converted<float>(blocks, values, 6, cells(name, 6, unit), 1,
                              [&](const float* t, std::size_t first, std::size_t count, float* to) {
                                turn_tensors(model.direction, t + 6 * first, count, shear, to);
                              });
    else
      append(blocks, values, 6, cells(name, 6, unit));
  };
  write_tensors("strain", solution.fields.strain, 2, "1 (shear: gamma)");
  write_tensors("stress", solution.fields.stress, 1, "MPa");
  write_cells("sed", solution.fields.energy_density, "MPa");
  write_cells("von_mises", solution.fields.von_mises, "MPa");
  write_cells("effective_strain", solution.fields.effective_strain, "1");
  file.set_run(provenance_texts(context.provenance()));
  file.set_run("status", status);
  {
    const TimedScope commit_scope("ossatura::bone::flush");
    file.commit();
  }
  log_info("wrote ", path);
}

template<class Exec>
void write_parosol(const Exec& exec, const std::string& path, const BoneModel<Exec>& model,
                   const BoneSolution<Exec>& solution, const std::string& status,
                   const DriverContext& context) {
  const TimedScope scope("ossatura::bone::write_parosol");
  const VoxelFields<Exec>& fields = solution.fields;
  const std::size_t num_elem = fields.element.extent(0);
  HostBlocks<Exec> blocks(exec);
  // Entry i of a whole array of results from entries of an array: fill(values, first, count).
  const auto for_entries = [&](const auto& array, const auto& fill) {
    blocks.for_each(array, 1, [&](const auto* values, std::size_t first, std::size_t count) {
      for_parts(count, std::size_t(1) << 14, [&](std::size_t begin, std::size_t end) {
        fill(values + begin, first + begin, end - begin);
      });
    });
  };
  std::vector<std::int32_t> hexahedra(8 * num_elem);
  blocks.for_each(list_corners(exec, solution.grid, fields.element), 8,
                  [&](const int* corners, std::size_t first, std::size_t voxels) {
                    for_parts(voxels, std::size_t(1) << 14,
                              [&](std::size_t begin, std::size_t end) {
                                order_corners(model.direction, corners, 8 * begin,
                                              8 * (end - begin), &hexahedra[8 * (first + begin)]);
                              });
                  });
  std::vector<double> points(3 * std::size_t(solution.grid.num_nodes)), modulus(num_elem);
  for_entries(list_sites(exec, solution.grid),
              [&](const std::uint64_t* sites, std::size_t first, std::size_t count) {
                place_nodes(model, sites, count, &points[3 * first]);
              });
  const ModulusTable<Exec> table(solution.lame);
  for_entries(fields.element, [&](const int* element, std::size_t first, std::size_t count) {
    table.look_up(element, count, &modulus[first]);
  });
  const auto copy_of = [&](const auto& values) {
    std::vector<double> copy(values.extent(0));
    for_entries(values, [&](const auto* from, std::size_t first, std::size_t count) {
      std::copy_n(from, count, copy.begin() + std::ptrdiff_t(first));
    });
    return copy;
  };
  const std::vector<double> sed = copy_of(fields.energy_density),
                            von_mises = copy_of(fields.von_mises),
                            effective = copy_of(fields.effective_strain);
  std::vector<double> strain = copy_of(fields.strain), stress = copy_of(fields.stress),
                      displacement = copy_of(solution.displacement),
                      force = copy_of(solution.force);
  if (const ImageDirection& direction = model.direction; !is_identity(direction)) {
    turn_tensors(direction, strain.data(), strain.size() / 6, 2, strain.data());
    turn_tensors(direction, stress.data(), stress.size() / 6, 1, stress.data());
    for (std::vector<double>* vectors : {&displacement, &force})
      turn_vectors(direction, vectors->data(), vectors->size() / 3, vectors->data());
  }
  ParosolSolution out;
  out.coordinates = ConstSpan<double>(points);
  out.elements = ConstSpan<std::int32_t>(hexahedra);
  out.modulus = ConstSpan<double>(modulus);
  out.displacements = ConstSpan<double>(displacement);
  out.forces = ConstSpan<double>(force);
  out.strain_energy = ConstSpan<double>(sed);
  out.von_mises = ConstSpan<double>(von_mises);
  out.effective_strain = ConstSpan<double>(effective);
  out.strain = ConstSpan<double>(strain);
  out.stress = ConstSpan<double>(stress);
  auto facts = provenance_texts(context.provenance());
  facts.emplace_back("status", status);
  write_parosol_output(path, out, facts, context.options().compress);
  log_info("wrote ", path);
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template void write_fields(const Exec&, const std::string&, const BoneOptions&,                  \
                             const BoneModel<Exec>&, const VoxelProblem<Exec>&,                    \
                             const BoneLoad<Exec>&, const BoneSolution<Exec>&, const std::string&, \
                             const DriverContext&);                                                \
  template void write_parosol(const Exec&, const std::string&, const BoneModel<Exec>&,             \
                              const BoneSolution<Exec>&, const std::string&,                       \
                              const DriverContext&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
