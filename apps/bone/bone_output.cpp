// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/bone_output.hpp"

#include "core/io/parosol_output.hpp"
#include "core/io/vtkhdf.hpp"

#include <algorithm>

namespace femura {

namespace {

template<class T, class Exec>
auto to_host(const Array<T, Exec>& array) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), array);
}

template<class View>
auto span_of(const View& view) {
  return ConstSpan<typename View::non_const_value_type>{view.data(), view.extent(0)};
}

/// [3 num_nodes] coordinates of the nodes in mm.
template<class Exec>
std::vector<double> node_coordinates(const VoxelGrid<Exec>& grid, double edge,
                                     const std::array<double, 3>& origin) {
  const auto sites = to_host<std::uint64_t, Exec>(list_sites(Exec(), grid));
  std::vector<double> points(3 * sites.extent(0));
  for (std::size_t node = 0; node < sites.extent(0); ++node) {
    const Site s = detail::unpack_site(sites(node));
    points[3 * node] = origin[0] + edge * s.x;
    points[3 * node + 1] = origin[1] + edge * s.y;
    points[3 * node + 2] = origin[2] + edge * s.z;
  }
  return points;
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
                  const BoneModel<Exec>& model, const BoneSolution<Exec>& solution,
                  const DriverContext& context) {
  const TimedScope scope("femura::bone::write_fields");
  const auto wants = [&](const char* name) {
    return std::find(options.fields.begin(), options.fields.end(), name) != options.fields.end();
  };
  VtkHdfWriter file(path);
  {
    const auto corner =
        to_host<int, Exec>(list_corners(exec, solution.grid, solution.fields.element));
    const std::vector<double> points = node_coordinates(solution.grid, model.edge, model.origin);
    file.set_mesh(ConstSpan<double>(points), span_of(corner), VtkCell::voxel);
  }
  if (wants("displacement"))
    file.point_data("displacement", span_of(to_host<double, Exec>(solution.displacement)), 3, "mm");
  if (wants("modulus"))
    file.cell_data("modulus", element_moduli(solution.lame, solution.fields.element), 1, "MPa");
  const auto write_cells = [&](const char* name, const Array<float, Exec>& values, int components,
                               const char* unit) {
    if (wants(name))
      file.cell_data(name, span_of(to_host<float, Exec>(values)), components, unit);
  };
  write_cells("strain", solution.fields.strain, 6, "1 (shear: gamma)");
  write_cells("stress", solution.fields.stress, 6, "MPa");
  write_cells("sed", solution.fields.energy_density, 1, "MPa");
  write_cells("von_mises", solution.fields.von_mises, 1, "MPa");
  write_cells("effective_strain", solution.fields.effective_strain, 1, "1");
  file.set_run(provenance_texts(context.provenance()));
  file.commit();
  log_info("wrote ", path);
}

template<class Exec>
void write_parosol(const Exec& exec, const std::string& path, const BoneModel<Exec>& model,
                   const BoneSolution<Exec>& solution, const DriverContext& context) {
  const TimedScope scope("femura::bone::write_parosol");
  const VoxelFields<Exec>& fields = solution.fields;
  const auto corner = to_host<int, Exec>(list_corners(exec, solution.grid, fields.element));
  std::vector<std::int32_t> hexahedra(corner.extent(0));
  constexpr int vtk_order[8] = {0, 1, 3, 2, 4, 5, 7, 6}; // around each face, not x fastest
  for (std::size_t i = 0; i < hexahedra.size(); ++i)
    hexahedra[i] = corner(i - i % 8 + std::size_t(vtk_order[i % 8]));
  const std::vector<double> points = node_coordinates(solution.grid, model.edge, model.origin);
  const std::vector<double> modulus = element_moduli(solution.lame, fields.element);
  const auto widen = [](const Array<float, Exec>& values) {
    const auto host = to_host<float, Exec>(values);
    return to_double(host.data(), host.extent(0));
  };
  const std::vector<double> sed = widen(fields.energy_density), von_mises = widen(fields.von_mises),
                            effective = widen(fields.effective_strain),
                            strain = widen(fields.strain), stress = widen(fields.stress);
  const auto displacement = to_host<double, Exec>(solution.displacement);
  const auto force = to_host<double, Exec>(solution.force);
  ParosolSolution out;
  out.coordinates = ConstSpan<double>(points);
  out.elements = ConstSpan<std::int32_t>(hexahedra);
  out.modulus = ConstSpan<double>(modulus);
  out.displacements = span_of(displacement);
  out.forces = span_of(force);
  out.strain_energy = ConstSpan<double>(sed);
  out.von_mises = ConstSpan<double>(von_mises);
  out.effective_strain = ConstSpan<double>(effective);
  out.strain = ConstSpan<double>(strain);
  out.stress = ConstSpan<double>(stress);
  write_parosol_output(path, out, provenance_texts(context.provenance()));
  log_info("wrote ", path);
}

#define FEMURA_INSTANTIATE(Exec)                                                                   \
  template void write_fields(const Exec&, const std::string&, const BoneOptions&,                  \
                             const BoneModel<Exec>&, const BoneSolution<Exec>&,                    \
                             const DriverContext&);                                                \
  template void write_parosol(const Exec&, const std::string&, const BoneModel<Exec>&,             \
                              const BoneSolution<Exec>&, const DriverContext&);
FEMURA_FOR_EACH_BACKEND(FEMURA_INSTANTIATE)
#undef FEMURA_INSTANTIATE

} // namespace femura
