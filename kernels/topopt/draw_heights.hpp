// SPDX-License-Identifier: Apache-2.0
// A part that is cast or moulded has no undercut along the direction in which it is drawn: in each
// column of elements material reaches from the parting face to a height [1]. The variables of a
// column are one, its height h by that of the column, and an element whose centre is at eta has
//   rho = (tanh(b eta) + tanh(b (h - eta))) / (tanh(b eta) + tanh(b (1 - eta)))
//       = sinh(b h) / sinh(b) * cosh(b (1 - eta)) / cosh(b (h - eta)),
// the projection of tanh_projection.hpp with eta for its threshold. d log(rho) / d eta =
// b (tanh(b (h - eta)) - tanh(b (1 - eta))) <= 0: densities fall along the direction for every h
// in [0, 1], and h = 0 and 1 are void and solid. b grows from step to step, so that the first
// designs reach all loads, up to a number by that of elements, where the step is as wide as one.
//
// [1] A. Gersborg, C. Andreasen. An explicit parameterization for casting constraints in gradient
//     driven topology optimization. Struct. Multidiscip. Optim. 44 (2011) 875-881,
//     doi:10.1007/s00158-011-0632-0.
#pragma once

#include <ossatura/kernels/topopt/lattice_links.hpp>

namespace ossatura {

/// The largest b by the number of elements in a column: two elements away from the height the
/// density is off by 2.5e-3.
inline constexpr double most_draw_sharpness = 2;

namespace detail {

KOKKOS_INLINE_FUNCTION double limited_sharpness(double sharpness, double most) {
  return sharpness < most ? sharpness : most;
}

/// Of an element in a column of heights.
struct HeightStep {
  double sharpness, place; ///< b, eta
  KOKKOS_FUNCTION double range() const {
    return tanh(sharpness * place) + tanh(sharpness * (1 - place));
  }
  KOKKOS_FUNCTION double value(double height) const {
    return (tanh(sharpness * place) + tanh(sharpness * (height - place))) / range();
  }
  KOKKOS_FUNCTION double slope(double height) const {
    const double t = tanh(sharpness * (height - place));
    return sharpness * (1 - t * t) / range();
  }
};

} // namespace detail

/// Columns and the direction, from the parting face outward: `sense` in one part, in two the first
/// goes down and the second up.
template<class Exec>
struct LatticeHeights {
  LatticeColumns<Exec> columns;
  int sense = 1;

  /// Calls visit(i) for the places of a column from the parting face outward, or back; -1 where
  /// there is no voxel.
  template<class Visit>
  KOKKOS_FUNCTION void walk(std::int64_t column, bool outward, const Visit& visit) const {
    const int part = columns.part(column);
    const bool rises = columns.num_parts() == 2 ? part == 1 : sense > 0;
    const int begin = columns.begin(part), end = columns.end(part);
    for (int k = 0; k < end - begin; ++k)
      visit(columns.voxel(column, rises == outward ? begin + k : end - 1 - k));
  }
  KOKKOS_FUNCTION std::int64_t num_free(std::int64_t column,
                                        const Array<std::uint8_t, Exec>& role) const {
    std::int64_t count = 0;
    walk(column, true,
         [&](int i) { count += i >= 0 && role(i) == std::uint8_t(DesignRole::free) ? 1 : 0; });
    return count;
  }
};

namespace detail {

/// What is between a solid voxel and the parting face is solid.
template<class Exec>
struct FillBelowSolid {
  LatticeHeights<Exec> heights;
  Array<std::uint8_t, Exec> role;
  KOKKOS_FUNCTION void operator()(std::int64_t column) const {
    bool below = false;
    heights.walk(column, false, [&](int i) {
      if (i < 0)
        return;
      if (role(i) == std::uint8_t(DesignRole::solid))
        below = true;
      else if (below && role(i) == std::uint8_t(DesignRole::free))
        role(i) = std::uint8_t(DesignRole::solid);
    });
  }
};

/// target(i) = value, or target(i) *= slope, of free voxels.
template<class Exec, bool back>
struct ApplyLatticeHeights {
  LatticeHeights<Exec> heights;
  double sharpness;
  Array<std::uint8_t, Exec> role;
  Array<double, Exec> height, target;

  KOKKOS_FUNCTION void operator()(std::int64_t column) const {
    const double count = double(heights.num_free(column, role));
    double k = 0.5;
    heights.walk(column, true, [&](int i) {
      if (i < 0 || role(i) != std::uint8_t(DesignRole::free))
        return;
      const HeightStep step{limited_sharpness(sharpness, most_draw_sharpness * count), k / count};
      if (back)
        target(i) *= step.slope(height(i));
      else
        target(i) = step.value(height(i));
      k += 1;
    });
  }
};

template<class Exec>
struct CountUndercuts {
  LatticeHeights<Exec> heights;
  Array<double, Exec> density;

  KOKKOS_FUNCTION void operator()(std::int64_t column, std::int64_t& count) const {
    bool below = false;
    std::int64_t gap = 0; // places without a voxel count where a voxel is below them
    heights.walk(column, false, [&](int i) {
      if (i < 0) {
        gap += below ? 1 : 0;
        return;
      }
      if (density(i) >= 0.5)
        below = true;
      else
        count += below ? 1 : 0;
      count += gap;
      gap = 0;
    });
  }
};

} // namespace detail

/// Makes free voxels between a solid one and the parting face solid. Does not fence.
template<class Exec>
void fill_below_solid(const Exec& exec, const LatticeHeights<Exec>& heights,
                      const Array<std::uint8_t, Exec>& role) {
  Kokkos::parallel_for("ossatura::fill_below_solid", range(exec, heights.columns.size()),
                       detail::FillBelowSolid<Exec>{heights, role});
}

/// density(i) of free voxels for the heights of their columns [num_nodes], with a b of `sharpness`
/// at most. May alias. Does not fence.
template<class Exec>
void apply_heights(const Exec& exec, const LatticeHeights<Exec>& heights, double sharpness,
                   const Array<std::uint8_t, Exec>& role, const Array<double, Exec>& height,
                   const Array<double, Exec>& density) {
  Kokkos::parallel_for(
      "ossatura::apply_heights", range(exec, heights.columns.size()),
      detail::ApplyLatticeHeights<Exec, false>{heights, sharpness, role, height, density});
}

/// Makes a gradient by densities one by heights. Does not fence.
template<class Exec>
void apply_heights_back(const Exec& exec, const LatticeHeights<Exec>& heights, double sharpness,
                        const Array<std::uint8_t, Exec>& role, const Array<double, Exec>& height,
                        const Array<double, Exec>& gradient) {
  Kokkos::parallel_for(
      "ossatura::apply_heights_back", range(exec, heights.columns.size()),
      detail::ApplyLatticeHeights<Exec, true>{heights, sharpness, role, height, gradient});
}

/// How many places between material, of a density of a half or more, and the parting face have
/// none. Fences.
template<class Exec>
std::int64_t count_undercuts(const Exec& exec, const LatticeHeights<Exec>& heights,
                             const Array<double, Exec>& density) {
  std::int64_t count = 0;
  Kokkos::parallel_reduce("ossatura::count_undercuts", range(exec, heights.columns.size()),
                          detail::CountUndercuts<Exec>{heights, density}, count);
  return count;
}

/// The same in columns of a mesh: what elements need is listed.
template<class Exec>
struct ListedHeights {
  Array<double, Exec> most, place; ///< [num_elem] largest b, and eta, of free elements
  Array<std::int64_t, Exec> begin; ///< [num_columns + 1]
  Array<int, Exec> member;         ///< of columns, from the parting face outward

  std::int64_t num_columns() const { return std::int64_t(begin.extent(0)) - 1; }
};

namespace detail {

template<class Exec, bool back>
struct ApplyListedHeights {
  ListedHeights<Exec> heights;
  double sharpness;
  Array<std::uint8_t, Exec> role;
  Array<double, Exec> height, target;

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    if (role(e) != std::uint8_t(DesignRole::free))
      return;
    const HeightStep step{limited_sharpness(sharpness, heights.most(e)), heights.place(e)};
    if (back)
      target(e) *= step.slope(height(e));
    else
      target(e) = step.value(height(e));
  }
};

template<class Exec>
struct CountListedUndercuts {
  ListedHeights<Exec> heights;
  Array<double, Exec> density;

  KOKKOS_FUNCTION void operator()(std::int64_t column, std::int64_t& count) const {
    bool below = false;
    for (std::int64_t k = heights.begin(column + 1) - 1; k >= heights.begin(column); --k) {
      const bool solid = density(heights.member(k)) >= 0.5;
      count += below && !solid ? 1 : 0;
      below = below || solid;
    }
  }
};

} // namespace detail

/// As for voxels. Does not fence.
template<class Exec>
void apply_heights(const Exec& exec, const ListedHeights<Exec>& heights, double sharpness,
                   const Array<std::uint8_t, Exec>& role, const Array<double, Exec>& height,
                   const Array<double, Exec>& density) {
  Kokkos::parallel_for(
      "ossatura::apply_listed_heights", range(exec, role.extent(0)),
      detail::ApplyListedHeights<Exec, false>{heights, sharpness, role, height, density});
}

/// As for voxels. Does not fence.
template<class Exec>
void apply_heights_back(const Exec& exec, const ListedHeights<Exec>& heights, double sharpness,
                        const Array<std::uint8_t, Exec>& role, const Array<double, Exec>& height,
                        const Array<double, Exec>& gradient) {
  Kokkos::parallel_for(
      "ossatura::apply_listed_heights_back", range(exec, role.extent(0)),
      detail::ApplyListedHeights<Exec, true>{heights, sharpness, role, height, gradient});
}

/// As for voxels. Fences.
template<class Exec>
std::int64_t count_undercuts(const Exec& exec, const ListedHeights<Exec>& heights,
                             const Array<double, Exec>& density) {
  std::int64_t count = 0;
  Kokkos::parallel_reduce("ossatura::count_listed_undercuts", range(exec, heights.num_columns()),
                          detail::CountListedUndercuts<Exec>{heights, density}, count);
  return count;
}

} // namespace ossatura
