// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/mesh/tetra_check.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/mesh/duplicate_elements.hpp>
#include <ossatura/core/machine/part_loop.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <sstream>

namespace ossatura {
namespace {

/// Removes the points that are not marked and numbers the others anew, in their order.
void keep_points(TetraMesh& mesh, const std::vector<bool>& keep) {
  std::vector<std::int32_t> number(keep.size());
  std::size_t count = 0;
  for (std::size_t p = 0; p < keep.size(); ++p) {
    if (!keep[p])
      continue;
    number[p] = std::int32_t(count);
    for (std::size_t axis = 0; axis < 3; ++axis)
      mesh.point[3 * count + axis] = mesh.point[3 * p + axis];
    ++count;
  }
  mesh.point.resize(3 * count);
  for (std::int32_t& v : mesh.tetra)
    v = number[std::size_t(v)];
}

std::vector<bool> find_used_points(const TetraMesh& mesh) {
  std::vector<std::atomic<bool>> marks(mesh.num_points());
  for_parts(mesh.tetra.size(), std::size_t(1) << 17, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      std::atomic<bool>& mark = marks[std::size_t(mesh.tetra[i])];
      if (!mark.load(std::memory_order_relaxed)) // most are marked: they are read by all
        mark.store(true, std::memory_order_relaxed);
    }
  });
  std::vector<bool> used(marks.size());
  for (std::size_t p = 0; p < marks.size(); ++p)
    used[p] = marks[p].load(std::memory_order_relaxed);
  return used;
}

/// The volume of a tetrahedron by that of a cube on its longest edge; 0 where all points are one.
double relative_volume(const TetraMesh& mesh, std::size_t e) {
  const double* x[4];
  for (std::size_t k = 0; k < 4; ++k)
    x[k] = &mesh.point[3 * std::size_t(mesh.tetra[4 * e + k])];
  double edge[3][3], longest = 0;
  for (int k = 0; k < 4; ++k)
    for (int l = 0; l < k; ++l)
      longest =
          std::max(longest, std::hypot(x[k][0] - x[l][0], x[k][1] - x[l][1], x[k][2] - x[l][2]));
  if (longest == 0)
    return 0;
  for (int k = 0; k < 3; ++k)
    for (int d = 0; d < 3; ++d)
      edge[k][d] = (x[k + 1][d] - x[0][d]) / longest;
  const auto& [u, v, w] = edge;
  return std::abs(u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) +
                  u[2] * (v[0] * w[1] - v[1] * w[0])) /
         6;
}

/// Of a good mesh, the first tetrahedron says enough.
void require_volume(const std::string& path, const TetraMesh& mesh) {
  constexpr double flat = 1e-9;
  for (std::size_t e = 0; e < mesh.num_tetra(); ++e)
    if (relative_volume(mesh, e) > flat)
      return;
  fail<InputError>(path, ": none of the ", mesh.num_tetra(),
                   " tetrahedra has a volume: all points lie in a plane or in one place; is a "
                   "coordinate missing?");
}

} // namespace

std::string describe_bad_tetra(const std::int64_t* v, std::int64_t num_points) {
  std::ostringstream text;
  for (int k = 0; k < 4; ++k)
    if (v[k] < 0 || v[k] >= num_points) {
      text << "the tetrahedron names point " << v[k] << ", but the " << num_points
           << " points are numbered 0 to " << num_points - 1
           << ": the points are of another mesh or counted from 1";
      return text.str();
    }
  for (int k = 0; k < 4; ++k)
    for (int l = 0; l < k; ++l)
      if (v[k] == v[l]) {
        text << "the tetrahedron names point " << v[k]
             << " twice: remove elements without volume from the mesh";
        return text.str();
      }
  return {};
}

void require_few_points(const std::string& place, std::uint64_t num_points) {
  if (num_points > std::uint64_t(std::numeric_limits<std::int32_t>::max()))
    fail<InputError>(place, ": ", num_points,
                     " points are more than 2^31 - 1, which can be numbered");
}

void finish_tetra_mesh(const std::string& path, TetraMesh& mesh,
                       const std::vector<bool>& passed_over, const PointPlace& place) {
  if (mesh.tetra.empty())
    fail<InputError>(path, ": has no tetrahedra; mesh the volume, not only its surface");
  if (const auto twice = find_duplicate_element(mesh.tetra, 4))
    fail<InputError>(path, ": tetrahedra ", twice->first, " and ", twice->second,
                     ", counted from 0, have the same vertices", duplicate_remedy);
  const std::vector<bool> used = find_used_points(mesh);
  std::size_t first = mesh.num_points(), num_unused = 0;
  for (std::size_t p = 0; p < used.size(); ++p) {
    if (used[p])
      continue;
    if (!passed_over.empty() && passed_over[p]) {
      ++mesh.num_left_out;
      continue;
    }
    if (num_unused++ == 0)
      first = p;
  }
  if (num_unused > 0)
    fail<InputError>(place(first), ": point ", first, " belongs to no tetrahedron (", num_unused,
                     " of ", mesh.num_points(),
                     " points do not); remove unused points from the mesh");
  if (mesh.num_left_out > 0)
    keep_points(mesh, used);
  require_volume(path, mesh);
}

} // namespace ossatura
