// SPDX-License-Identifier: Apache-2.0
#include "apps/eikonal/input/generator_syntax.hpp"

#include "apps/driver/options/notation.hpp"
#include "apps/driver/options/suggest.hpp"
#include <ossatura/core/base/require.hpp>

#include <algorithm>
#include <cstdint>

namespace ossatura {

namespace {

struct Kind {
  MeshGenerator kind;
  double h, least_h, greatest_h; ///< mm: the default and the limits
  std::vector<std::string> keys;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {{MeshGenerator::ventricles, 0.72, 0.13, 3, {"h"}},
                                        {MeshGenerator::slab, 0.5, 0.02, 3, {"h"}},
                                        {MeshGenerator::box, 1, 1e-6, 1e6, {"n", "h", "jitter"}}};
  return all;
}

const Kind& find_kind(const std::string& name) {
  std::vector<std::string> names;
  for (const Kind& kind : kinds()) {
    if (name == name_of(kind.kind))
      return kind;
    names.push_back(name_of(kind.kind));
  }
  fail<std::invalid_argument>("'", name, "' is not one of ventricles, slab and box",
                              did_you_mean(name, names));
}

std::array<int, 3> parse_cells(const std::string& text) {
  const std::vector<std::string> items = split_list(text, 'x');
  if (items.size() != 1 && items.size() != 3)
    fail<std::invalid_argument>("'", text, "': expected n=N or n=NXxNYxNZ");
  std::array<int, 3> cells{};
  for (std::size_t d = 0; d < 3; ++d) {
    cells[d] = parse_number<int>(items[items.size() == 3 ? d : 0]);
    if (cells[d] < 1 || cells[d] > 2000)
      fail<std::invalid_argument>("n=", text, ": from 1 to 2000 cubes along an axis");
  }
  if (6.0 * cells[0] * cells[1] * cells[2] >= double(1 << 29))
    fail<std::invalid_argument>("n=", text,
                                ": six tetrahedra a cube are more than 2^29, which can be "
                                "numbered");
  return cells;
}

} // namespace

GeneratedMesh parse_generated_mesh(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const Kind& kind = find_kind(name);
  GeneratedMesh mesh{kind.kind, kind.h, {20, 20, 20}, 0, text};
  if (colon == std::string::npos)
    return mesh;
  for (const std::string& item : split_list(text.substr(colon + 1), ',')) {
    const auto [key, value] = split_at(item, '=', "KEY=VALUE, such as h=0.5");
    if (std::find(kind.keys.begin(), kind.keys.end(), key) == kind.keys.end())
      fail<std::invalid_argument>(name_of(kind.kind), " has no '", key, "', but ",
                                  joined(kind.keys, ", "), did_you_mean(key, kind.keys));
    if (key == "n")
      mesh.cells = parse_cells(value);
    else if (key == "h")
      mesh.h = parse_number<double>(value);
    else
      mesh.jitter = parse_number<double>(value);
  }
  if (!(mesh.h >= kind.least_h && mesh.h <= kind.greatest_h))
    fail<std::invalid_argument>("h=", mesh.h, ": an edge from ", kind.least_h, " to ",
                                kind.greatest_h, " mm");
  if (!(mesh.jitter >= 0 && mesh.jitter < 0.35))
    fail<std::invalid_argument>("jitter=", mesh.jitter,
                                ": at least 0 and below 0.35 of an edge, so that no tetrahedron "
                                "turns over");
  return mesh;
}

} // namespace ossatura
