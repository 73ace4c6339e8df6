// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/output/files.hpp"

#include <ossatura/core/io/hdf5/parosol_output.hpp>
#include <ossatura/core/io/hdf5/vtkhdf.hpp>
#include <ossatura/core/io/image/world_frame.hpp>
#include <ossatura/kernels/algebra/host_blocks.hpp>

#include <algorithm>

namespace ossatura {

namespace {

constexpr std::size_t least_part = 1 << 14; ///< voxels or nodes that a thread takes

/// Coordinates [count, 3] in the world, in mm, of the nodes at `sites`, to `points`.
template<class Exec>
void place_nodes(const BoneModel<Exec>& model, const std::uint64_t* sites, std::size_t count,
                 double* points) {
  for_parts(count, least_part, [&](std::size_t begin, std::size_t end) {
    for (std::size_t node = begin; node < end; ++node) {
      const Site s = detail::unpack_site(sites[node]);
      points[3 * node] = model.edge * s.x;
      points[3 * node + 1] = model.edge * s.y;
      points[3 * node + 2] = model.edge * s.z;
    }
  });
  if (!is_identity(model.direction))
    turn_vectors(model.direction, points, count, points);
  for_parts(count, least_part, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = 3 * begin; i < 3 * end; ++i)
      points[i] += model.origin[i % 3];
  });
}

/// The corners of voxels as those of hexahedra: around the lower face, then around the upper one;
/// where the image is mirrored, the faces change places, so that volumes stay positive.
void order_corners(const ImageDirection& direction, const int* corners, std::size_t num_voxels,
                   std::int32_t* hexahedra) {
  const std::size_t swap = is_mirrored(direction) ? 4 : 0;
  for_parts(num_voxels, least_part, [&](std::size_t begin, std::size_t end) {
    constexpr std::size_t order[8] = {0, 1, 3, 2, 4, 5, 7, 6};
    for (std::size_t voxel = begin; voxel < end; ++voxel)
      for (std::size_t i = 0; i < 8; ++i)
        hexahedra[8 * voxel + i] = corners[8 * voxel + order[(i + swap) % 8]];
  });
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
    for_parts(count, least_part, [&](std::size_t begin, std::size_t end) {
      for (std::size_t e = begin; e < end; ++e)
        modulus[e] = lame_.modulus(element[e]);
    });
  }

private:
  LameField<Kokkos::DefaultHostExecutionSpace> lame_;
};

/// Appends `columns` values for each row of `array` [rows, from_columns], which
/// `convert(from, rows, to)` makes.
template<class To, class From, class Exec, class Convert>
void append_converted(const Exec& exec, const Array<From, Exec>& array, std::size_t from_columns,
                      std::size_t columns, VtkHdfField field, const Convert& convert) {
  std::vector<To> block;
  for_host_blocks(exec, array, from_columns,
                  [&](const From* values, std::size_t, std::size_t rows) {
                    block.resize(columns * rows);
                    convert(values, rows, block.data());
                    field.append(block);
                  });
}

template<class T, class Exec>
void append(const Exec& exec, const Array<T, Exec>& array, std::size_t columns, VtkHdfField field) {
  for_host_blocks(exec, array, columns, [&](const T* values, std::size_t, std::size_t rows) {
    field.append(ConstSpan<T>(values, columns * rows));
  });
}

template<class Exec>
void write_mesh(const Exec& exec, const BoneModel<Exec>& model, const BoneSolution<Exec>& solution,
                VtkHdfWriter& file) {
  const TimedScope scope("ossatura::bone::write_mesh");
  const bool turned = !is_identity(model.direction); // VTK's voxels lie along its axes
  file.begin_mesh(std::uint64_t(solution.grid.num_nodes), solution.fields.element.extent(0),
                  turned ? VtkCell::hexahedron : VtkCell::voxel);
  append_converted<double>(exec, list_sites(exec, solution.grid), 1, 3, file.points_field<double>(),
                           [&](const std::uint64_t* sites, std::size_t count, double* points) {
                             place_nodes(model, sites, count, points);
                           });
  const Array<int, Exec> corner = list_corners(exec, solution.grid, solution.fields.element);
  if (turned)
    append_converted<std::int32_t>(
        exec, corner, 8, 8, file.connectivity_field(),
        [&](const int* corners, std::size_t voxels, std::int32_t* hexahedra) {
          order_corners(model.direction, corners, voxels, hexahedra);
        });
  else
    append(exec, corner, 8, file.connectivity_field());
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
  VtkHdfWriter file(path);
  write_mesh(exec, model, solution, file);
  const auto write_vectors = [&](const char* name, const Array<double, Exec>& values,
                                 const char* unit) {
    VtkHdfField field = file.point_field<double>(name, 3);
    field.set_unit(unit);
    if (turned)
      append_converted<double>(exec, values, 3, 3, std::move(field),
                               [&](const double* v, std::size_t count, double* out) {
                                 turn_vectors(model.direction, v, count, out);
                               });
    else
      append(exec, values, 3, std::move(field));
  };
  if (wants("displacement"))
    write_vectors("displacement", solution.displacement, "mm");
  // With these the residual and the reactions can be computed from the file alone.
  append(exec, problem.held.mask, 1, file.point_field<std::uint8_t>("held"));
  if (load.force.extent(0) > 0)
    write_vectors("load", load.force, "N");
  if (wants("modulus")) {
    const ModulusTable<Exec> table(solution.lame);
    VtkHdfField field = file.cell_field<double>("modulus");
    field.set_unit("MPa");
    append_converted<double>(exec, solution.fields.element, 1, 1, std::move(field),
                             [&](const int* element, std::size_t count, double* modulus) {
                               table.look_up(element, count, modulus);
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
      append(exec, values, 1, cells(name, 1, unit));
  };
  const auto write_tensors = [&](const char* name, const Array<float, Exec>& values, double shear,
                                 const char* unit) {
    if (!wants(name))
      return;
    if (turned)
      append_converted<float>(exec, values, 6, 6, cells(name, 6, unit),
                              [&](const float* t, std::size_t count, float* out) {
                                turn_tensors(model.direction, t, count, shear, out);
                              });
    else
      append(exec, values, 6, cells(name, 6, unit));
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
  std::vector<std::int32_t> hexahedra(8 * num_elem);
  for_host_blocks(exec, list_corners(exec, solution.grid, fields.element), 8,
                  [&](const int* corners, std::size_t first, std::size_t voxels) {
                    order_corners(model.direction, corners, voxels, &hexahedra[8 * first]);
                  });
  std::vector<double> points(3 * std::size_t(solution.grid.num_nodes));
  for_host_blocks(exec, list_sites(exec, solution.grid), 1,
                  [&](const std::uint64_t* sites, std::size_t first, std::size_t count) {
                    place_nodes(model, sites, count, &points[3 * first]);
                  });
  std::vector<double> modulus(num_elem);
  const ModulusTable<Exec> table(solution.lame);
  for_host_blocks(exec, fields.element, 1,
                  [&](const int* element, std::size_t first, std::size_t count) {
                    table.look_up(element, count, &modulus[first]);
                  });
  const auto copy_of = [&](const auto& values) {
    std::vector<double> copy(values.extent(0));
    for_host_blocks(exec, values, 1, [&](const auto* from, std::size_t first, std::size_t count) {
      std::copy(from, from + count, copy.begin() + std::ptrdiff_t(first));
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
  write_parosol_output(path, out, facts);
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
