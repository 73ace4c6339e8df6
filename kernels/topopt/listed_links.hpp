// SPDX-License-Identifier: Apache-2.0
// Elements of a mesh are linked, so that they share a variable, by lists. Free ones have the mean
// of their variables by volume, (L x)_i = sum_j v_j x_j / sum_j v_j, and L L = L.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/mesh/design_role.hpp>

namespace ossatura {

/// Group g has the members begin(g) .. begin(g + 1), two or more; an element is in one group at
/// most.
template<class Exec>
struct ListedLinks {
  Array<std::int64_t, Exec> begin; ///< [num_groups + 1]
  Array<int, Exec> member;
  Array<double, Exec> volume; ///< [num_elem]

  std::int64_t num_groups() const { return std::int64_t(begin.extent(0)) - 1; }
};

namespace detail {

template<class Exec, bool transposed>
struct AverageListedLinks {
  ListedLinks<Exec> links;
  Array<std::uint8_t, Exec> role;
  Array<double, Exec> x;

  KOKKOS_FUNCTION void operator()(std::int64_t g) const {
    double sum = 0, weight = 0;
    for (std::int64_t k = links.begin(g); k < links.begin(g + 1); ++k) {
      const int e = links.member(k);
      if (role(e) != std::uint8_t(DesignRole::free))
        continue;
      sum += transposed ? x(e) : links.volume(e) * x(e);
      weight += links.volume(e);
    }
    for (std::int64_t k = links.begin(g); k < links.begin(g + 1); ++k) {
      const int e = links.member(k);
      if (role(e) == std::uint8_t(DesignRole::free))
        x(e) = transposed ? sum / weight * links.volume(e) : sum / weight;
    }
  }
};

template<class Exec>
struct CountUnlikeElements {
  ListedLinks<Exec> links;
  Array<std::uint8_t, Exec> role;
  Array<double, Exec> density;

  KOKKOS_FUNCTION void operator()(std::int64_t g, std::int64_t& count) const {
    int other = links.member(links.begin(g));
    for (std::int64_t k = links.begin(g + 1) - 1; k >= links.begin(g); --k)
      if (role(links.member(k)) == std::uint8_t(DesignRole::free))
        other = links.member(k);
    for (std::int64_t k = links.begin(g); k < links.begin(g + 1); ++k)
      count += (density(links.member(k)) >= 0.5) != (density(other) >= 0.5) ? 1 : 0;
  }
};

} // namespace detail

/// x = L x, or L^T x. Does not fence.
template<class Exec>
void average_links(const Exec& exec, const ListedLinks<Exec>& links,
                   const Array<std::uint8_t, Exec>& role, bool transposed,
                   const Array<double, Exec>& x) {
  const auto groups = range(exec, links.num_groups());
  if (transposed)
    Kokkos::parallel_for("ossatura::average_listed_links_transposed", groups,
                         detail::AverageListedLinks<Exec, true>{links, role, x});
  else
    Kokkos::parallel_for("ossatura::average_listed_links", groups,
                         detail::AverageListedLinks<Exec, false>{links, role, x});
}

/// As for voxels (lattice_links.hpp). Fences.
template<class Exec>
std::int64_t count_unlike(const Exec& exec, const ListedLinks<Exec>& links,
                          const Array<std::uint8_t, Exec>& role,
                          const Array<double, Exec>& density) {
  std::int64_t count = 0;
  Kokkos::parallel_reduce("ossatura::count_unlike_elements", range(exec, links.num_groups()),
                          detail::CountUnlikeElements<Exec>{links, role, density}, count);
  return count;
}

} // namespace ossatura
