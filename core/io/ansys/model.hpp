// SPDX-License-Identifier: Apache-2.0
// read_ansys makes a model of hexahedra from an Ansys archive.
#pragma once

#include <ossatura/core/io/mesh/hexa_file.hpp>

#include <string>

namespace ossatura {

/// See read_hexa_file().
HexaFile read_ansys(const std::string& path, double unit);

} // namespace ossatura
