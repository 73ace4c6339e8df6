// SPDX-License-Identifier: Apache-2.0
// The element types of openCARP are listed here by name and code.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ossatura {

struct OpencarpType {
  std::string_view code; ///< in .elem files; in .belem files it is the place in the table
  const char* name;
  std::size_t num_vertices;
};

inline constexpr OpencarpType opencarp_types[] = {
    {"Tt", "a tetrahedron", 4}, {"Hx", "a hexahedron", 8}, {"Oc", "an octahedron", 6},
    {"Py", "a pyramid", 5},     {"Pr", "a prism", 6},      {"Qd", "a quadrilateral", 4},
    {"Tr", "a triangle", 3},    {"Ln", "a line", 2},
};

inline std::string refusal_of(const OpencarpType& type) {
  return "type " + std::string(type.code) + " is " + type.name +
         "; only tetrahedra (Tt) are solved: extract them, or cut the others into tetrahedra";
}

} // namespace ossatura
