// SPDX-License-Identifier: Apache-2.0
// A ParosolWriter writes results in ParOSol's own layout, so that pipelines around ParOSol read
// them unchanged.
#pragma once

#include <ossatura/core/io/hdf5/compression.hpp>
#include <ossatura/core/io/hdf5/field.hpp>
#include <ossatura/core/io/hdf5/file.hpp>
#include <ossatura/core/io/text/atomic_file.hpp>
#include <ossatura/core/io/text/const_span.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ossatura {

/// Writes groups /Mesh and /Solution in the layout of the TU-Wien fork (names, types, element
/// numbers from 1), field by field in any order. An HDF5 file that is there keeps its other
/// content, the input among it; its /Mesh, /Solution and /run are replaced. The file is whole or
/// untouched: commit() puts it in place.
///
///     ParosolWriter file("bone.h5", num_nodes, num_elem);
///     file.nodal("Nodal displacements").append(u);
///     file.commit();
///
/// Throws InputError where the file cannot be written or is not HDF5, std::invalid_argument for
/// more nodes than 32-bit numbers name.
class ParosolWriter {
public:
  ParosolWriter(const std::string& path, std::uint64_t num_nodes, std::uint64_t num_elem,
                Hdf5Compression compression = Hdf5Compression::fast);

  /// Throws InputError where a file is there that is no HDF5 file.
  static void require_target(const std::string& path);

  /// [n, 3] x, y, z in mm.
  Hdf5Field coordinates();
  /// std::int32_t [m, 8] node numbers from 1, VTK hexahedron order.
  Hdf5Field elements();
  /// std::int32_t [m, 1] moduli in MPa, by material_id().
  Hdf5Field material_ids();
  static std::int32_t material_id(double modulus);
  /// [n, 3]: `Nodal displacements` in mm; `Nodal forces` in N, K u with the rows of supports kept.
  Hdf5Field nodal(const char* name);
  /// [m, components] at the element centre: `SED`, `VonMises` in MPa; `EFF`, sqrt(2 SED / E); of
  /// six components, xx, yy, zz, xy, yz, zx, `Element strain` (shear: gamma) and `Element stress`
  /// in MPa.
  Hdf5Field elemental(const char* name, std::uint64_t components);

  /// Text attributes of group /run. Where a field so far is not finite, for which there is a
  /// warning
  /// (`not-finite`), a `status` is `not finite` whatever its value.
  void set_run(const std::vector<std::pair<std::string, std::string>>& facts);
  /// Closes the file and gives it its name. Fields handed out must be gone by then.
  void commit();

private:
  template<class T>
  Hdf5Field field(std::optional<Hdf5Group>& group, const char* name, std::uint64_t rows,
                  std::uint64_t columns);

  AtomicFile output_;
  Hdf5File file_;
  Hdf5Layout layout_;
  std::uint64_t num_nodes_, num_elem_;
  std::optional<Hdf5Group> mesh_, solution_;
  std::shared_ptr<Hdf5FieldFile> shared_ = std::make_shared<Hdf5FieldFile>();
};

/// The fields of a ParosolWriter; n nodes, m elements, in the caller's order. Empty element fields
/// are left out of the file.
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

/// Writes `solution` to `path` by a ParosolWriter, with `run` as facts. Throws as that, and
/// std::invalid_argument where sizes disagree or element entries are out of range.
void write_parosol_output(const std::string& path, const ParosolSolution& solution,
                          const std::vector<std::pair<std::string, std::string>>& run = {},
                          Hdf5Compression compression = Hdf5Compression::fast);

} // namespace ossatura
