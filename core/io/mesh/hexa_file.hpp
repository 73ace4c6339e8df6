// SPDX-License-Identifier: Apache-2.0
// read_hexa_file reads models of hexahedra from files of Abaqus and CalculiX, Ansys, Gmsh and VTK.
#pragma once

#include <ossatura/core/io/mesh/element_file.hpp>
#include <ossatura/core/mesh/hexa/model.hpp>

namespace ossatura {

struct HexaFile {
  HexaModel model;
  std::int64_t unused_points = 0;    ///< points of the file that no element has; they are left out
  std::int64_t reference_points = 0; ///< of these, reference nodes of couplings and rigid bodies
  std::vector<std::string> notes;    ///< what the user should know, a sentence each
};

/// Reads NAME.inp (Abaqus, CalculiX), NAME.cdb (Ansys), NAME.msh (Gmsh 2.2, 4.1; physical groups
/// become sets, of nodes for those of points, lines and surfaces), NAME.vtk, NAME.vtu, NAME.hdf or
/// NAME.vtkhdf (the mesh alone). Names of sets are as in the file, in capitals for .inp and .cdb,
/// which do not tell small letters. Forces are as in the file; lengths are in m, and the modulus in
/// units of force per m^2. docs/topopt/input-files.md says what is read of each format and how load
/// cases come about. Throws InputError naming file, line and remedy: for damaged files, keywords
/// and elements outside the subset, nodes and sets that are not there, displacements other than
/// zero.
HexaFile read_hexa_file(const std::string& path, const ElementFileOptions& options = {});

} // namespace ossatura
