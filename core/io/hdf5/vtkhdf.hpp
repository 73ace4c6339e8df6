// SPDX-License-Identifier: Apache-2.0
// A VtkHdfWriter writes fields for ParaView and VTK as VTKHDF 1.0 in HDF5 files.
//
// [1] VTK file formats, "VTKHDF", docs.vtk.org. Version 1.0 and the extension .hdf are what every
//     reader takes from ParaView 5.11 on.
#pragma once

#include <ossatura/core/io/hdf5/compression.hpp>
#include <ossatura/core/io/hdf5/field.hpp>
#include <ossatura/core/io/hdf5/file.hpp>
#include <ossatura/core/io/text/atomic_file.hpp>
#include <ossatura/core/io/text/const_span.hpp>
#include <ossatura/core/mesh/element_mesh.hpp>
#include <ossatura/core/mesh/solids/mesh.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ossatura {

/// Cells by VTK's numbers and corner orders.
enum class VtkCell : std::uint8_t {
  triangle = 5,    ///< three corners
  tetra = 10,      ///< four corners
  voxel = 11,      ///< x fastest, then y, then z
  hexahedron = 12, ///< bottom face around, top face around
  wedge = 13,      ///< a triangle that turns clockwise seen from the other, and that
  // The same with mid-nodes of edges.
  quadratic_tetra = 24,
  quadratic_hexahedron = 25,
  quadratic_wedge = 26
};

/// Corners of a cell, mid-nodes among them.
constexpr std::uint64_t num_corners(VtkCell cell) {
  switch (cell) {
  case VtkCell::triangle:
    return 3;
  case VtkCell::tetra:
    return 4;
  case VtkCell::wedge:
    return 6;
  case VtkCell::quadratic_tetra:
    return 10;
  case VtkCell::quadratic_hexahedron:
    return 20;
  case VtkCell::quadratic_wedge:
    return 15;
  default:
    return 8;
  }
}

/// Whether the lists of a grid whose cells have so many corners together are stored as 32-bit
/// numbers, else as 64-bit ones: VTK takes either, and wants offsets and corners alike. The half of
/// each 64-bit number that is zero takes no room in a compressed file, but as long to compress.
constexpr bool has_narrow_indices(std::uint64_t num_corners) {
  return num_corners <= std::uint64_t(std::numeric_limits<std::int32_t>::max());
}

/// Cells of one kind, one after the other.
struct VtkCellRun {
  VtkCell cell;
  std::uint64_t num_cells;
};

/// What the files of a series have in common, by names of datasets: the first one that is written
/// fills it, the others take it from there instead of compressing it again.
using VtkHdfKept = std::map<std::string, Hdf5KeptRows>;

/// Writes one file: first set_mesh(), then fields, then commit(). Nothing stands at
/// `path` before commit(). Values are handed to HDF5 from where they are, without a second copy but
/// for fields of up to 1 MiB, which are compressed side by side until commit().
///
///     VtkHdfWriter file("bone.hdf");
///     file.set_mesh(points, connectivity, VtkCell::hexahedron);
///     file.point_data("displacement", ConstSpan<double>(u), 3, "mm");
///     file.cell_data("SED", ConstSpan<float>(sed), 1, "MPa");
///     file.set_run("version", "0.1");
///     file.commit();
///
/// Throws InputError for an output that cannot be written, std::invalid_argument for misuse.
class VtkHdfWriter {
public:
  /// With `kept`, which must outlive this, the file is one of a series: all with the same `kept`
  /// have one compression, the same cells, and the same points where set_mesh() sets them.
  explicit VtkHdfWriter(const std::string& path,
                        Hdf5Compression compression = Hdf5Compression::fast,
                        VtkHdfKept* kept = nullptr);

  /// `points` [num_points, 3], `connectivity` [num_cells, num_corners(cell)] with entries in
  /// [0, num_points).
  template<class Real, class Index>
  void set_mesh(ConstSpan<Real> points, ConstSpan<Index> connectivity, VtkCell cell) {
    begin_mesh(points.size / 3, connectivity.size / num_corners(cell), cell);
    points_field<Real>().append_kept(kept("Points"),
                                     [&](Hdf5Field& field) { field.append(points); });
    connectivity_field().append_kept(kept("Connectivity"), [&](Hdf5Field& field) {
      field.append_indices(connectivity.size,
                           [&](std::uint64_t first, std::uint64_t count, auto* corner) {
                             std::copy_n(connectivity.data + first, count, corner);
                           });
    });
  }
  template<class Real, class Index>
  void set_mesh(const std::vector<Real>& points, const std::vector<Index>& connectivity,
                VtkCell cell) {
    set_mesh(ConstSpan<Real>(points), ConstSpan<Index>(connectivity), cell);
  }

  /// The elements of several meshes of any shapes, whose points, one mesh after the other, are now
  /// at `points` [num_points of all, 3]. Adds the cell data `object`, the number of the mesh from
  /// 0.
  ///
  ///     file.set_elements({&raptor, &cloth}, ConstSpan<double>(x));
  ///     file.point_data("velocity", v, 3, "m/s");
  void set_elements(const std::vector<const ElementMesh*>& meshes, ConstSpan<double> points);

  /// Elements of any kinds. Adds the constant cell data `element_kind`, the number of SolidKind:
  /// VTK has one cell for two of them.
  void set_solids(const SolidMesh& mesh);

  /// The same in parts: begin_mesh(), then rows of three coordinates to points_field() and the
  /// corners of whole cells to connectivity_field(), by append_indices() or of any type.
  void begin_mesh(std::uint64_t num_points, std::uint64_t num_cells, VtkCell cell) {
    begin_mesh(num_points, {{cell, num_cells}});
  }
  void begin_mesh(std::uint64_t num_points, const std::vector<VtkCellRun>& runs);
  template<class Real>
  Hdf5Field points_field() {
    return {open_data(vtk_, "Points", {num_points_, 3}, hdf5_native_type<Real>(), sizeof(Real)),
            shared_};
  }
  Hdf5Field connectivity_field();

  /// Writes a field of `components` numbers per point or cell, interleaved: [n, components].
  /// Six components are a symmetric tensor in VTK's order xx, yy, zz, xy, yz, xz.
  template<class T>
  void point_data(const std::string& name, ConstSpan<T> values, int components = 1,
                  const std::string& unit = {}) {
    write_field(point_field<T>(name, components), values, num_points_, components, unit);
  }
  template<class T>
  void cell_data(const std::string& name, ConstSpan<T> values, int components = 1,
                 const std::string& unit = {}) {
    write_field(cell_field<T>(name, components), values, num_cells_, components, unit);
  }
  template<class T>
  void point_data(const std::string& name, const std::vector<T>& values, int components = 1,
                  const std::string& unit = {}) {
    point_data(name, ConstSpan<T>(values), components, unit);
  }
  template<class T>
  void cell_data(const std::string& name, const std::vector<T>& values, int components = 1,
                 const std::string& unit = {}) {
    cell_data(name, ConstSpan<T>(values), components, unit);
  }

  /// The same of a field that all files of a series have: make() returns its values, and is called
  /// where they are not kept.
  template<class T, class Make>
  void constant_point_data(const std::string& name, const Make& make, int components = 1,
                           const std::string& unit = {}) {
    write_constant<T>(point_field<T>(name, components), kept(name), make,
                      num_points_ * std::uint64_t(components), unit);
  }
  template<class T, class Make>
  void constant_cell_data(const std::string& name, const Make& make, int components = 1,
                          const std::string& unit = {}) {
    write_constant<T>(cell_field<T>(name, components), kept(name), make,
                      num_cells_ * std::uint64_t(components), unit);
  }

  /// Fields to be written in parts by Hdf5Field::append().
  template<class T>
  Hdf5Field point_field(const std::string& name, int components = 1) {
    return {open_data(point_data_, name, point_shape(components), hdf5_native_type<T>(), sizeof(T)),
            shared_};
  }
  template<class T>
  Hdf5Field cell_field(const std::string& name, int components = 1) {
    return {open_data(cell_data_, name, cell_shape(components), hdf5_native_type<T>(), sizeof(T)),
            shared_};
  }

  /// Facts about the run: text attributes of group /run, which VTK does not look at. Where a field
  /// so far is not finite, a `status` is `not finite` whatever its value.
  void set_run(const std::string& key, const std::string& value);
  void set_run(const std::vector<std::pair<std::string, std::string>>& facts);

  /// Closes the file and gives it its name. Fields handed out must be gone by then.
  void commit();

private:
  std::vector<std::uint64_t> point_shape(int components) const;
  std::vector<std::uint64_t> cell_shape(int components) const;
  Hdf5Field index_field(const std::string& name, std::uint64_t count);
  Hdf5Dataset open_data(std::optional<Hdf5Group>& group, const std::string& name,
                        const std::vector<std::uint64_t>& shape, hid_t type, std::size_t bytes);
  template<class T>
  static void write_field(Hdf5Field field, ConstSpan<T> values, std::uint64_t count, int components,
                          const std::string& unit) {
    OSSATURA_REQUIRE(values.size == count * std::uint64_t(components),
                     values.size << " values for " << count << " x " << components);
    field.append(values);
    if (!unit.empty())
      field.set_unit(unit);
  }

  template<class T, class Make>
  static void write_constant(Hdf5Field field, Hdf5KeptRows* kept, const Make& make,
                             std::uint64_t count, const std::string& unit) {
    field.append_kept(kept, [&](Hdf5Field& rows) {
      const std::vector<T> values = make();
      OSSATURA_REQUIRE(values.size() == count, values.size() << " values for " << count);
      rows.append(values);
    });
    if (!unit.empty())
      field.set_unit(unit);
  }
  /// Of all files of the series; null without.
  Hdf5KeptRows* kept(const std::string& dataset) {
    return kept_ == nullptr ? nullptr : &(*kept_)[dataset];
  }

  AtomicFile output_;
  Hdf5File file_;
  Hdf5Layout layout_;
  VtkHdfKept* kept_;
  std::optional<Hdf5Group> vtk_, point_data_, cell_data_, run_;
  std::uint64_t num_points_ = 0;
  std::uint64_t num_cells_ = 0;
  std::uint64_t num_corners_ = 0; ///< of all cells
  std::shared_ptr<Hdf5FieldFile> shared_ = std::make_shared<Hdf5FieldFile>();
};

/// A saved step of a time series.
struct VtkSeriesStep {
  std::string file; ///< relative to the directory of the series
  double time;
};

/// Writes a ParaView file series (`NAME.hdf.series`) that lists the steps.
void write_vtk_series(const std::string& path, const std::vector<VtkSeriesStep>& steps);

} // namespace ossatura
