// SPDX-License-Identifier: Apache-2.0
// VertexStars are the stars of core/pfem/stars.hpp on a backend.
#pragma once

#include <ossatura/core/pfem/stars.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/pfem/hexa_batch.hpp>

#include <algorithm>
#include <limits>

namespace ossatura {

/// HierarchicStars in the memory of a backend, with the packed matrix of star s, of
/// 3 (mode_begin(s + 1) - mode_begin(s)) rows, at matrix_begin(s).
template<class Exec>
struct VertexStars {
  std::int64_t num_stars = 0;
  int most_rows = 0; ///< of a matrix
  Array<std::int64_t, Exec> mode_begin, matrix_begin, corner_begin, place_begin;
  Array<int, Exec> mode, place;
  Array<std::uint32_t, Exec> corner;
  Array<int, Exec> use_begin; ///< [num_modes + 1] into the next
  Array<int, Exec> use;       ///< places in `mode` where a mode is, ascending
};

/// Where the matrices of stars begin, and the number of their entries as the last.
inline std::vector<std::int64_t> star_matrix_begin(const HierarchicStars& stars) {
  std::vector<std::int64_t> begin{0};
  for (std::int64_t s = 0; s < stars.num_stars(); ++s) {
    const std::int64_t rows =
        3 * (stars.mode_begin[std::size_t(s) + 1] - stars.mode_begin[std::size_t(s)]);
    begin.push_back(begin.back() + matrix_entries(MatrixStorage::packed, rows));
  }
  return begin;
}

/// Throws std::invalid_argument for more modes in all stars than 31 bits count. Fences.
template<class Exec>
VertexStars<Exec> upload_stars(const Exec& exec, const HierarchicStars& stars,
                               std::int32_t num_modes) {
  OSSATURA_REQUIRE(stars.mode.size() < std::size_t(std::numeric_limits<int>::max()),
                   stars.mode.size() << " modes in vertex stars");
  VertexStars<Exec> arrays;
  arrays.num_stars = stars.num_stars();
  std::vector<int> use_begin(std::size_t(num_modes) + 1), use(stars.mode.size());
  for (const int mode : stars.mode)
    ++use_begin[std::size_t(mode) + 1];
  for (std::size_t m = 0; m < std::size_t(num_modes); ++m)
    use_begin[m + 1] += use_begin[m];
  std::vector<int> next(use_begin.begin(), use_begin.end() - 1);
  for (std::size_t k = 0; k < stars.mode.size(); ++k)
    use[std::size_t(next[std::size_t(stars.mode[k])]++)] = int(k);
  for (std::size_t s = 0; s < std::size_t(stars.num_stars()); ++s)
    arrays.most_rows =
        std::max(arrays.most_rows, 3 * int(stars.mode_begin[s + 1] - stars.mode_begin[s]));
  arrays.mode_begin = upload(exec, "ossatura::stars::mode_begin", stars.mode_begin);
  arrays.matrix_begin = upload(exec, "ossatura::stars::matrix_begin", star_matrix_begin(stars));
  arrays.corner_begin = upload(exec, "ossatura::stars::corner_begin", stars.corner_begin);
  arrays.place_begin = upload(exec, "ossatura::stars::place_begin", stars.place_begin);
  arrays.mode = upload(exec, "ossatura::stars::mode", stars.mode);
  arrays.place = upload(exec, "ossatura::stars::place", stars.place);
  arrays.corner = upload(exec, "ossatura::stars::corner", stars.corner);
  arrays.use_begin = upload(exec, "ossatura::stars::use_begin", use_begin);
  arrays.use = upload(exec, "ossatura::stars::use", use);
  return arrays;
}

} // namespace ossatura
