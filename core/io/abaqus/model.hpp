// SPDX-License-Identifier: Apache-2.0
// Models of hexahedra from Abaqus and CalculiX input files.
#pragma once

#include <ossatura/core/io/mesh/hexa_file.hpp>

#include <string>

namespace ossatura {

/// See read_hexa_file().
HexaFile read_abaqus(const std::string& path, double unit);

} // namespace ossatura
