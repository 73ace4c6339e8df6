// SPDX-License-Identifier: Apache-2.0
// read_tetra_mesh reads tetrahedral meshes from files of openCARP, Gmsh and VTK.
#pragma once

#include <ossatura/core/io/text/const_span.hpp>
#include <ossatura/core/mesh/tetra_mesh.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ossatura {

struct TetraFileOptions {
  std::optional<double> unit; ///< mm per unit of length; else 0.001 for openCARP, 1 otherwise
  std::string fibre_file;     ///< .lon or .blon, instead of NAME.lon or what the mesh has
  std::string tag_field;      ///< VTK: cell data; empty: the first of the usual names found
  std::string fibre_field;    ///< VTK, likewise: "fiber", "fibre", "fibers", ...
  std::string sheet_field;    ///< VTK, likewise: "sheet", "sheets", ...
  /// VTK: cell data of any number of components for TetraMesh::value, one field after the other in
  /// each row. NaN is a value.
  std::vector<std::string> value_fields;
};

/// Reads a mesh; the format is told by the name and checked against the content:
///   NAME.pts, NAME.elem or NAME alone   openCARP text (NAME.pts, .elem, and .lon where it exists)
///   NAME.bpts, NAME.belem               the same in binary (.bpts, .belem, .blon)
///   NAME.msh                            Gmsh 2.2 or 4.1, text or binary
///   NAME.vtk                            VTK legacy unstructured grid, text or binary
///   NAME.vtu                            VTK XML unstructured grid: ascii, base64, appended, zlib
///   NAME.hdf, NAME.vtkhdf               VTKHDF unstructured grid, as results are
/// Every point belongs to a tetrahedron, whose vertices are four different ones; not all tetrahedra
/// are flat; all numbers are finite. Elements of lower dimension that Gmsh and VTK carry along are
/// passed over together with the points that only they have; other volume elements, and in openCARP
/// all others, are refused by name. The tag of an element is 0 where the file has none; Gmsh: its
/// physical group, else its geometrical entity. Throws InputError naming file, line or element, and
/// remedy.
TetraMesh read_tetra_mesh(const std::string& path, const TetraFileOptions& options = {});

/// Reads an openCARP vertex list (.vtx: count, then `extra` or `intra`, then a vertex per line),
/// entries in [0, num_points).
std::vector<std::int32_t> read_vertex_list(const std::string& path, std::size_t num_points);

/// Reads an openCARP data file of elements: a line for each of `num_tetra`, each with the same
/// number of numbers, one to three. NaN is a value. Returns [num_tetra, numbers].
std::vector<double> read_cell_values(const std::string& path, std::size_t num_tetra);

/// Writes one number per line, as openCARP's .dat files of activation times.
void write_dat(const std::string& path, ConstSpan<float> values);

/// Writes one time step of a value per point as an IGB file of floats (little endian), in `unit`.
void write_igb(const std::string& path, ConstSpan<float> values, const std::string& unit);

} // namespace ossatura
