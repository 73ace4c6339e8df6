// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/tetra_mesh.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/machine/part_loop.hpp>

#include <algorithm>
#include <mutex>

namespace ossatura {

void check_points_of_tetra(const TetraMesh& mesh) {
  const auto fits = [n = mesh.num_points()](std::int32_t point) {
    return point >= 0 && std::size_t(point) < n;
  };
  std::mutex mutex;
  std::size_t bad = mesh.tetra.size();
  for_parts(mesh.tetra.size(), 1 << 18, [&](std::size_t first, std::size_t end) {
    const auto begin = mesh.tetra.begin();
    const auto found =
        std::find_if_not(begin + std::ptrdiff_t(first), begin + std::ptrdiff_t(end), fits);
    const std::lock_guard<std::mutex> lock(mutex);
    if (found != begin + std::ptrdiff_t(end))
      bad = std::min(bad, std::size_t(found - begin));
  });
  OSSATURA_REQUIRE(bad == mesh.tetra.size(), "tetrahedron " << bad / 4 << " has point "
                                                            << mesh.tetra[bad] << " of "
                                                            << mesh.num_points());
}

} // namespace ossatura
