// SPDX-License-Identifier: Apache-2.0
// These kernels derive strain, stress and the scalars of bone analysis from displacements, one
// value per voxel.
#pragma once

#include <ossatura/kernels/algebra/reproducible_sums/shared.hpp>
#include <ossatura/kernels/bone/element.hpp>
#include <ossatura/kernels/bone/lame_field.hpp>

#include <array>
#include <cmath>

namespace ossatura {

/// Where in the voxel the strain energy density is taken.
enum class EnergyPoint {
  centre, ///< 1/2 sigma : eps at the centre (ParOSol, FAIM)
  mean    ///< the element's energy over its volume; sums to the strain energy of the model
};

/// Per voxel, in the order of `element`. Strain and stress are (xx, yy, zz, xy, yz, zx) at the
/// centre, shear strains in engineering form (gamma), stress in MPa.
template<class Exec>
struct VoxelFields {
  Array<int, Exec> element;            ///< [num_elem] lowest node of each voxel, in node order
  SharedEntries elements;              ///< of `element`
  Array<float, Exec> strain, stress;   ///< [6 num_elem], or empty
  Array<float, Exec> energy_density;   ///< [num_elem] SED in N/mm^2
  Array<float, Exec> von_mises;        ///< [num_elem] in MPa, of the stress at the centre
  Array<float, Exec> effective_strain; ///< [num_elem] sqrt(2 SED / E) (Pistoia et al. 2002)
  Array<float, Exec> plastic_strain;   ///< [num_elem] of plasticity/voxels.hpp, or empty
  Array<float, Exec> damage;           ///< [num_elem] of damage/voxels.hpp, or empty
};

namespace detail {

/// Displacements of the eight nodes of a voxel, v[3 corner + component].
template<class Exec>
KOKKOS_INLINE_FUNCTION void load_voxel(const VoxelGrid<Exec>& grid, const Array<double, Exec>& u,
                                       int lowest, double v[24]) {
  const Site s = grid.site(lowest);
  for (int k = 0; k < 8; ++k) {
    const std::int64_t node = grid.find(s.x + (k & 1), s.y + (k >> 1 & 1), s.z + (k >> 2));
    for (int c = 0; c < 3; ++c)
      v[3 * k + c] = u(3 * node + c);
  }
}

/// Strain (xx, yy, zz, gamma xy, yz, zx) at the centre of a cube of the given edge, which is also
/// its mean over the cube, and the stress of Lame's constants.
KOKKOS_INLINE_FUNCTION void centre_strain_stress(const double v[24], double edge, double lambda,
                                                 double mu, double strain[6], double stress[6]) {
  double gradient[3][3]; // d u_c / d x_d
  for (int c = 0; c < 3; ++c)
    for (int d = 0; d < 3; ++d) {
      double sum = 0;
      for (int k = 0; k < 8; ++k)
        sum += k >> d & 1 ? v[3 * k + c] : -v[3 * k + c];
      gradient[c][d] = sum / (4 * edge);
    }
  for (int c = 0; c < 3; ++c) {
    const int d = (c + 1) % 3;
    strain[c] = gradient[c][c];
    strain[3 + c] = gradient[c][d] + gradient[d][c];
  }
  const double trace = strain[0] + strain[1] + strain[2];
  for (int i = 0; i < 6; ++i)
    stress[i] = i < 3 ? lambda * trace + 2 * mu * strain[i] : mu * strain[i];
}

/// The first of `element` that is not less than each node.
template<class Exec>
struct FindElements {
  Array<int, Exec> element;
  Array<std::int64_t, Exec> node, found;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t begin = 0, end = element.extent(0);
    while (begin < end) {
      const std::int64_t middle = begin + (end - begin) / 2;
      if (element(middle) < node(i))
        begin = middle + 1;
      else
        end = middle;
    }
    found(i) = begin;
  }
};

/// The arrays of VoxelFields, for kernels.
template<class Exec>
struct FieldArrays {
  Array<int, Exec> element;
  Array<float, Exec> strain, stress, energy_density, von_mises, effective_strain;
};

template<class Exec>
struct ComputeVoxelFields {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  double edge;
  Array<double, Exec> u;
  EnergyPoint point;
  FieldArrays<Exec> out;

  /// Adds the voxel's strain energy in N mm.
  KOKKOS_FUNCTION void operator()(std::int64_t e, double* energy) const {
    const int lowest = out.element(e);
    const double lambda = lame.lambda(lowest), mu = lame.mu(lowest);
    double v[24], strain[6], stress[6], centre = 0;
    load_voxel(grid, u, lowest, v);
    centre_strain_stress(v, edge, lambda, mu, strain, stress);
    for (int i = 0; i < 6; ++i)
      centre += 0.5 * stress[i] * strain[i];
    double product[24];
    for (int i = 0; i < 24; ++i)
      product[i] = v[i];
    apply_voxel_stiffness(edge * lambda, edge * mu, product);
    double total = 0;
    for (int i = 0; i < 24; ++i)
      total += 0.5 * v[i] * product[i];
    *energy += total;

    const double density = point == EnergyPoint::centre ? centre : total / (edge * edge * edge);
    out.energy_density(e) = float(density);
    out.effective_strain(e) = float(std::sqrt(2 * density / lame.modulus(lowest)));
    const double a = stress[0] - stress[1], b = stress[1] - stress[2], c = stress[2] - stress[0];
    const double shear = stress[3] * stress[3] + stress[4] * stress[4] + stress[5] * stress[5];
    out.von_mises(e) = float(std::sqrt(0.5 * (a * a + b * b + c * c) + 3 * shear));
    if (out.strain.extent(0) > 0)
      for (int i = 0; i < 6; ++i) {
        out.strain(6 * e + i) = float(strain[i]);
        out.stress(6 * e + i) = float(stress[i]);
      }
  }
};

} // namespace detail

/// The voxels of a list [num_elem] of lowest nodes, in the groups of `nodes`. By all processes that
/// share these. Fences.
template<class Exec>
SharedEntries share_elements(const Exec& exec, const SharedEntries& nodes,
                             const Array<int, Exec>& element) {
  SharedEntries elements{0, std::int64_t(element.extent(0)), nodes.comm, {}};
  if (nodes.group_begin.empty())
    return elements;
  const std::int64_t groups = std::int64_t(nodes.group_begin.size());
  const auto begin = make_uninitialized<std::int64_t>(exec, groups, "ossatura::element_groups");
  Kokkos::parallel_for(
      "ossatura::share_elements", range(exec, groups),
      detail::FindElements<Exec>{
          element, upload(exec, "ossatura::element_groups::node", nodes.group_begin), begin});
  elements.group_begin = download(exec, begin);
  return elements;
}

/// Computes the fields of the displacements u [3 num_nodes] in mm at the voxels of `nodes`, the
/// nodes that this process owns; `energy` is set to the strain energy of the model in N mm. Strain
/// and stress only with `tensors`. By all processes that share the nodes. Fences.
template<class Exec>
VoxelFields<Exec> compute_voxel_fields(const Exec& exec, const SharedEntries& nodes,
                                       const VoxelGrid<Exec>& grid, const LameField<Exec>& lame,
                                       double edge, const Array<double, Exec>& u, EnergyPoint point,
                                       bool tensors, double& energy) {
  VoxelFields<Exec> fields;
  fields.element = list_elements(exec, grid, lame.mu_value);
  fields.elements = share_elements(exec, nodes, fields.element);
  const std::int64_t n = fields.elements.count();
  fields.energy_density = make_uninitialized<float>(exec, n, "ossatura::fields::energy_density");
  fields.von_mises = make_uninitialized<float>(exec, n, "ossatura::fields::von_mises");
  fields.effective_strain =
      make_uninitialized<float>(exec, n, "ossatura::fields::effective_strain");
  if (tensors) {
    fields.strain = make_uninitialized<float>(exec, 6 * n, "ossatura::fields::strain");
    fields.stress = make_uninitialized<float>(exec, 6 * n, "ossatura::fields::stress");
  }
  const detail::FieldArrays<Exec> out{fields.element,   fields.strain,
                                      fields.stress,    fields.energy_density,
                                      fields.von_mises, fields.effective_strain};
  energy = sum_in_groups<1>(exec, fields.elements,
                            detail::ComputeVoxelFields<Exec>{grid, lame, edge, u, point, out})[0];
  return fields;
}

namespace detail {
template<class Exec>
struct SumStress {
  using value_type = double[];
  unsigned value_count = 6;
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  double edge;
  Array<double, Exec> u;

  KOKKOS_FUNCTION void operator()(std::int64_t node, double sum[]) const {
    if (!lame.solid(int(node)))
      return;
    double v[24], strain[6], stress[6];
    load_voxel(grid, u, int(node), v);
    centre_strain_stress(v, edge, lame.lambda(int(node)), lame.mu(int(node)), strain, stress);
    for (int i = 0; i < 6; ++i)
      sum[i] += stress[i];
  }
};
} // namespace detail

/// The integral of the stress over the solid voxels divided by `volume` (mm^3), the apparent stress
/// of a body of that volume: (xx, yy, zz, xy, yz, zx) in MPa. Fences.
template<class Exec>
std::array<double, 6> mean_stress(const Exec& exec, const VoxelGrid<Exec>& grid,
                                  const LameField<Exec>& lame, double edge,
                                  const Array<double, Exec>& u, double volume) {
  std::array<double, 6> mean{};
  Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> sum(mean.data(),
                                                                                        6);
  Kokkos::parallel_reduce("ossatura::mean_stress", range(exec, grid.num_nodes),
                          detail::SumStress<Exec>{6, grid, lame, edge, u}, sum);
  fence(exec, "ossatura::mean_stress");
  for (double& value : mean)
    value *= edge * edge * edge / volume;
  return mean;
}

} // namespace ossatura
