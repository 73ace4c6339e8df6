// SPDX-License-Identifier: Apache-2.0
// A unit cell is an image of voxels that repeats without end along x, y and z. Under a mean strain
// E its displacements are u = E x + w with a periodic w [1], [2], which VoxelSolver finds: K w = f
// with the forces f = -K (E x). Voxels that the solver sees twice, and their nodes, are the rim
// (kernels/image/periodic_rim.hpp).
//
// [1] J. Michel, H. Moulinec, P. Suquet. Effective properties of composite materials with periodic
//     microstructure: a computational approach. Comput. Methods Appl. Mech. Eng. 172 (1999)
//     109-143, doi:10.1016/S0045-7825(98)00227-8.
// [2] D. Pahr, P. Zysset. Influence of boundary conditions on computed apparent elastic properties
//     of cancellous bone. Biomech. Model. Mechanobiol. 7 (2008) 463-476,
//     doi:10.1007/s10237-007-0109-7.
#pragma once

#include <ossatura/solvers/bone/problem.hpp>

namespace ossatura {

template<class Exec>
struct UnitCell {
  VoxelProblem<Exec> problem; ///< for VoxelSolver: with the rim, and without an image
  LameField<Exec> own;        ///< constants of the voxels of one cell; 0 in the rim
  double volume = 0;          ///< of the cell, void included, mm3
};

/// The whole image of `material` as a cell, of voxels of the given edge in mm. Takes no reference
/// to the image, and memory for a copy for a while. Throws std::invalid_argument if no voxel is
/// solid, InputError for 2^28 solid voxels or more, or 2^20 along an axis. Fences.
template<class Exec>
UnitCell<Exec> make_unit_cell(const Exec& exec, const MaterialImage<Exec>& material, double edge);

/// Sets f [3 num_nodes] to the nodal forces (N) of unit mean strain `component` in (xx, yy, zz, xy,
/// yz, zx); all 0 where they are nothing but rounding errors, as of a homogeneous cell. Fences.
template<class Exec>
void load_unit_cell(const Exec& exec, const UnitCell<Exec>& cell, int component,
                    const Array<double, Exec>& f);

/// The mean stress (xx, yy, zz, xy, yz, zx) in MPa of the cell under unit mean strain `component`,
/// from the solution w [3 num_nodes], which becomes E x + w. Fences.
template<class Exec>
std::array<double, 6> mean_stress_of_cell(const Exec& exec, const UnitCell<Exec>& cell,
                                          int component, const Array<double, Exec>& w);

} // namespace ossatura
