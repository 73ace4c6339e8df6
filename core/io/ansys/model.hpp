// SPDX-License-Identifier: Apache-2.0
// Models of hexahedra from Ansys archives.
#pragma once

#include <ossatura/core/io/mesh/hexa_file.hpp>

#include <string>

namespace ossatura {

/// See read_hexa_file().
HexaFile read_ansys(const std::string& path, double unit);

} // namespace ossatura
