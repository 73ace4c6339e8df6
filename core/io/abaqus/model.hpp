// SPDX-License-Identifier: Apache-2.0
// read_abaqus makes a model of hexahedra from an Abaqus or CalculiX input file.
#pragma once

#include <ossatura/core/io/mesh/hexa_file.hpp>

#include <string>

namespace ossatura {

/// See read_hexa_file().
HexaFile read_abaqus(const std::string& path, double unit);

} // namespace ossatura
