// SPDX-License-Identifier: Apache-2.0
// write_parosol_output writes results in ParOSol's own layout, so that pipelines around ParOSol
// read them unchanged.
#pragma once

#include <ossatura/core/io/hdf5/compression.hpp>
#include <ossatura/core/io/text/const_span.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ossatura {

/// The contents of groups /Mesh and /Solution; n nodes, m elements, in the caller's order. Element
/// values are those at the element centre. Empty element fields are left out of the file.
struct ParosolSolution {
  ConstSpan<double> coordinates;      ///< [n, 3] x, y, z in mm
  ConstSpan<std::int32_t> elements;   ///< [m, 8] node numbers from 0, VTK hexahedron order
  ConstSpan<double> modulus;          ///< [m] MPa; becomes `Material IDs`, cut to integers
  ConstSpan<double> displacements;    ///< [n, 3] mm
  ConstSpan<double> forces;           ///< [n, 3] N, K u with the rows of the supports kept
  ConstSpan<double> strain_energy;    ///< [m] MPa, `SED`
  ConstSpan<double> von_mises;        ///< [m] MPa, `VonMises`
  ConstSpan<double> effective_strain; ///< [m] sqrt(2 SED / E), `EFF`
  ConstSpan<double> strain;           ///< [m, 6] xx, yy, zz, gamma_xy, gamma_yz, gamma_zx
  ConstSpan<double> stress;           ///< [m, 6] MPa, same order
};

/// Writes `solution` to `path` in the layout of the TU-Wien fork (names, types, element numbers
/// from 1), with `run` as text attributes of group /run. An HDF5 file that is there keeps its other
/// content, the input among it; its /Mesh, /Solution and /run are replaced. The file is whole or
/// untouched. Where a field is not finite there is a warning (`not-finite`), and a `status` in
/// `run` is `not finite`. Throws InputError where it cannot be written or is not HDF5,
/// std::invalid_argument where sizes disagree or element entries are out of range.
void write_parosol_output(const std::string& path, const ParosolSolution& solution,
                          const std::vector<std::pair<std::string, std::string>>& run = {},
                          Hdf5Compression compression = Hdf5Compression::fast);

} // namespace ossatura
