// SPDX-License-Identifier: Apache-2.0
// Renewing means gives the cells of a level the mean constants of finer ones whose moduli changed:
// the levels stay, and the sums are those of coarsening (coarsen_voxels.hpp, coarsen.hpp), in their
// order.
#pragma once

#include <ossatura/kernels/bone/cells/coarsen.hpp>

namespace ossatura {

namespace detail {

/// The coarse cell of each finer one: that of the node in the middle of their group, which each
/// child has as a corner.
template<class Exec>
struct FindParentCell {
  CellGrid<Exec> fine;
  Array<int, Exec> parent, result;

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    const Site s = unpack_site(fine.place(e));
    const int child = (s.x & 1) | (s.y & 1) << 1 | (s.z & 1) << 2;
    result(e) = parent(fine.corner(8 * e + (7 ^ child)));
  }
};

/// Voxels of a group around its centre, x fastest.
template<class Exec>
struct MeanOfVoxels {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  bool uniform;
  CellGrid<Exec> cells;

  KOKKOS_FUNCTION void operator()(std::int64_t cell) const {
    const Site s = unpack_site(cells.place(cell));
    float lambda = 0, mu = 0;
    for (int v = 0; v < 8; ++v) {
      const int lowest = grid.find(2 * s.x + (v & 1), 2 * s.y + (v >> 1 & 1), 2 * s.z + (v >> 2));
      if (lowest < 0 || !lame.solid(lowest))
        continue;
      mu += lame.mu_value(lowest);
      if (!uniform)
        lambda += lame.lambda_value(lowest);
    }
    cells.mu_value(cell) = mu / 8;
    if (!uniform)
      cells.lambda_value(cell) = lambda / 8;
  }
};

template<class Exec>
struct MeanOfChildren {
  CellGrid<Exec> fine;
  InverseMap<Exec> children;
  bool uniform;
  CellGrid<Exec> cells;

  KOKKOS_FUNCTION void operator()(std::int64_t cell) const {
    float lambda = 0, mu = 0;
    for (int i = children.begin(cell); i < children.begin(cell + 1); ++i) {
      mu += fine.mu_value(children.member(i));
      if (!uniform)
        lambda += fine.lambda_value(children.member(i));
    }
    cells.mu_value(cell) = mu / 8;
    if (!uniform)
      cells.lambda_value(cell) = lambda / 8;
  }
};

} // namespace detail

/// The cells of `fine` that each coarse cell is made of, ascending, from a transfer that knows the
/// parents of nodes still (drop_parents). Fences.
template<class Exec>
InverseMap<Exec> list_children(const Exec& exec, const CellGrid<Exec>& fine,
                               const CellTransfer<Exec>& transfer, std::int64_t num_cells) {
  const Array<int, Exec> parent =
      make_uninitialized<int>(exec, fine.num_elem, "ossatura::list_children::parent");
  Kokkos::parallel_for("ossatura::list_children", range(exec, fine.num_elem),
                       detail::FindParentCell<Exec>{fine, transfer.parent, parent});
  const InverseMap<Exec> children = invert_map(exec, parent, num_cells);
  fence(exec, "ossatura::list_children");
  return children;
}

/// Mean constants of the cells of level 1, in place. Does not fence.
template<class Exec>
void renew_cells(const Exec& exec, const VoxelGrid<Exec>& grid, const LameField<Exec>& lame,
                 const CellGrid<Exec>& cells) {
  const bool uniform = cells.lambda_value.data() == cells.mu_value.data();
  Kokkos::parallel_for("ossatura::renew_cells::voxels", range(exec, cells.num_elem),
                       detail::MeanOfVoxels<Exec>{grid, lame, uniform, cells});
}

/// The same of a coarser level. Does not fence.
template<class Exec>
void renew_cells(const Exec& exec, const CellGrid<Exec>& fine, const InverseMap<Exec>& children,
                 const CellGrid<Exec>& cells) {
  const bool uniform = cells.lambda_value.data() == cells.mu_value.data();
  Kokkos::parallel_for("ossatura::renew_cells", range(exec, cells.num_elem),
                       detail::MeanOfChildren<Exec>{fine, children, uniform, cells});
}

} // namespace ossatura
