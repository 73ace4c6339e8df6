// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/output/files.hpp"

#include <ossatura/core/io/hdf5/parosol_output.hpp>
#include <ossatura/core/io/hdf5/vtkhdf.hpp>
#include <ossatura/core/io/image/world_frame.hpp>

#include <algorithm>

namespace ossatura {

namespace {

template<class T, class Exec>
auto to_host(const Array<T, Exec>& array) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), array);
}

template<class View>
auto span_of(const View& view) {
  return ConstSpan<typename View::non_const_value_type>{view.data(), view.extent(0)};
}

/// [3 num_nodes] coordinates of the nodes in the world, in mm.
template<class Exec>
std::vector<double> node_coordinates(const VoxelGrid<Exec>& grid, const BoneModel<Exec>& model) {
  const auto sites = to_host<std::uint64_t, Exec>(list_sites(Exec(), grid));
  std::vector<double> points(3 * sites.extent(0));
  for (std::size_t node = 0; node < sites.extent(0); ++node) {
    const Site s = detail::unpack_site(sites(node));
    points[3 * node] = model.edge * s.x;
    points[3 * node + 1] = model.edge * s.y;
    points[3 * node + 2] = model.edge * s.z;
  }
  if (!is_identity(model.direction))
    points = turn_vectors(model.direction, points.data(), sites.extent(0));
  for (std::size_t i = 0; i < points.size(); ++i)
    points[i] += model.origin[i % 3];
  return points;
}

/// The corners of voxels as those of hexahedra: around the lower face, then around the upper one;
/// where the image is mirrored, the faces change places, so that volumes stay positive.
template<class Index, class Exec>
std::vector<Index> hexahedra_of(const Array<int, Exec>& corner_of_voxel,
                                const ImageDirection& direction) {
  const auto corner = to_host<int, Exec>(corner_of_voxel);
  const std::size_t swap = is_mirrored(direction) ? 4 : 0;
  constexpr std::size_t order[8] = {0, 1, 3, 2, 4, 5, 7, 6};
  std::vector<Index> hexahedra(corner.extent(0));
  for (std::size_t i = 0; i < hexahedra.size(); ++i)
    hexahedra[i] = Index(corner(i - i % 8 + order[(i % 8 + swap) % 8]));
  return hexahedra;
}

/// Young's modulus of each voxel of `element`, in MPa.
template<class Exec>
std::vector<double> element_moduli(const LameField<Exec>& lame, const Array<int, Exec>& element) {
  const auto lowest = to_host<int, Exec>(element);
  LameField<Kokkos::DefaultHostExecutionSpace> host;
  host.lambda_scale = lame.lambda_scale;
  host.mu_scale = lame.mu_scale;
  host.lambda_value = to_host<float, Exec>(lame.lambda_value);
  host.mu_value = to_host<float, Exec>(lame.mu_value);
  std::vector<double> modulus(lowest.extent(0));
  for (std::size_t e = 0; e < modulus.size(); ++e)
    modulus[e] = host.modulus(lowest(e));
  return modulus;
}

std::vector<double> to_double(const float* values, std::size_t count) {
  return std::vector<double>(values, values + count);
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
  {
    const Array<int, Exec> corner = list_corners(exec, solution.grid, solution.fields.element);
    const std::vector<double> points = node_coordinates(solution.grid, model);
    if (turned) // VTK's voxels lie along its axes
      file.set_mesh(points, hexahedra_of<int, Exec>(corner, model.direction), VtkCell::hexahedron);
    else
      file.set_mesh(ConstSpan<double>(points), span_of(to_host<int, Exec>(corner)), VtkCell::voxel);
  }
  const auto write_vectors = [&](const char* name, const Array<double, Exec>& values,
                                 const char* unit) {
    const auto v = to_host<double, Exec>(values);
    if (turned)
      file.point_data(name, turn_vectors(model.direction, v.data(), v.extent(0) / 3), 3, unit);
    else
      file.point_data(name, span_of(v), 3, unit);
  };
  if (wants("displacement"))
    write_vectors("displacement", solution.displacement, "mm");
  // With these the residual and the reactions can be computed from the file alone.
  file.point_data("held", span_of(to_host<std::uint8_t, Exec>(problem.held.mask)));
  if (load.force.extent(0) > 0)
    write_vectors("load", load.force, "N");
  if (wants("modulus"))
    file.cell_data("modulus", element_moduli(solution.lame, solution.fields.element), 1, "MPa");
  const auto write_cells = [&](const char* name, const Array<float, Exec>& values, int components,
                               const char* unit) {
    if (wants(name))
      file.cell_data(name, span_of(to_host<float, Exec>(values)), components, unit);
  };
  const auto write_tensors = [&](const char* name, const Array<float, Exec>& values, double shear,
                                 const char* unit) {
    if (!turned) {
      write_cells(name, values, 6, unit);
    } else if (wants(name)) {
      const auto host = to_host<float, Exec>(values);
      file.cell_data(name, turn_tensors(model.direction, host.data(), host.extent(0) / 6, shear), 6,
                     unit);
    }
  };
  write_tensors("strain", solution.fields.strain, 2, "1 (shear: gamma)");
  write_tensors("stress", solution.fields.stress, 1, "MPa");
  write_cells("sed", solution.fields.energy_density, 1, "MPa");
  write_cells("von_mises", solution.fields.von_mises, 1, "MPa");
  write_cells("effective_strain", solution.fields.effective_strain, 1, "1");
  file.set_run(provenance_texts(context.provenance()));
  file.set_run("status", status);
  file.commit();
  log_info("wrote ", path);
}

template<class Exec>
void write_parosol(const Exec& exec, const std::string& path, const BoneModel<Exec>& model,
                   const BoneSolution<Exec>& solution, const std::string& status,
                   const DriverContext& context) {
  const TimedScope scope("ossatura::bone::write_parosol");
  const VoxelFields<Exec>& fields = solution.fields;
  const std::vector<std::int32_t> hexahedra = hexahedra_of<std::int32_t, Exec>(
      list_corners(exec, solution.grid, fields.element), model.direction);
  const std::vector<double> points = node_coordinates(solution.grid, model);
  const std::vector<double> modulus = element_moduli(solution.lame, fields.element);
  const auto widen = [](const Array<float, Exec>& values) {
    const auto host = to_host<float, Exec>(values);
    return to_double(host.data(), host.extent(0));
  };
  const std::vector<double> sed = widen(fields.energy_density), von_mises = widen(fields.von_mises),
                            effective = widen(fields.effective_strain);
  std::vector<double> strain = widen(fields.strain), stress = widen(fields.stress);
  const auto copy_of = [](const Array<double, Exec>& values) {
    const auto host = to_host<double, Exec>(values);
    return std::vector<double>(host.data(), host.data() + host.extent(0));
  };
  std::vector<double> displacement = copy_of(solution.displacement),
                      force = copy_of(solution.force);
  if (const ImageDirection& direction = model.direction; !is_identity(direction)) {
    strain = turn_tensors(direction, strain.data(), strain.size() / 6, 2);
    stress = turn_tensors(direction, stress.data(), stress.size() / 6, 1);
    displacement = turn_vectors(direction, displacement.data(), displacement.size() / 3);
    force = turn_vectors(direction, force.data(), force.size() / 3);
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
