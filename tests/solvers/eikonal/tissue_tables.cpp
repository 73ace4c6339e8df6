// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include <ossatura/solvers/eikonal/tissue_tables.hpp>

#include <algorithm>

namespace {

using namespace ossatura;

TEST_CASE("Rows of tissues follow the first appearance of their tags", "[eikonal]") {
  for (const std::size_t n : {0, 1, 1000, 65536, 65537, 200000}) {
    INFO(n << " tetrahedra");
    TetraMesh mesh;
    std::vector<int> tag, row;
    for (std::size_t t = 0; t < n; ++t) {
      // Runs of a few tags; one that first appears late, one at the last tetrahedron alone.
      mesh.tag.push_back(t + 1 == n ? -7 : t > 150000 && t % 5 == 0 ? 3 : 40 - int(t / 700 % 6));
      const auto found = std::find(tag.begin(), tag.end(), mesh.tag.back());
      row.push_back(int(found - tag.begin()));
      if (found == tag.end())
        tag.push_back(mesh.tag.back());
    }
    const detail::TissueRows rows(mesh);
    CHECK(rows.tag == tag);
    CHECK(rows.row == row);
  }
}

} // namespace
