// SPDX-License-Identifier: Apache-2.0
// The sized product is the matrix-free product (multiply.hpp) on devices where order + 1 points
// along an axis are known when it is compiled. The values of the functions are then constants of
// the launch, operands of multiply-adds that neither registers nor loads have to give, and loops
// have no ends to look at.
#pragma once

#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/pfem/matrix_free/sized_lines.hpp>
#include <ossatura/kernels/pfem/matrix_free/sized_planes.hpp>
#include <ossatura/kernels/pfem/mode_gather.hpp>

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

namespace ossatura {

/// What the sized product needs besides a batch.
template<class Exec>
struct SizedTables {
  std::vector<double> value, derivative; ///< [points, order + 1], as those of the batch
  std::vector<double> point, weight;     ///< [points]
  Array<int, Exec> line;  ///< [(order + 1)^2, 2] first mode of a pair of first indices, and number
  Array<int, Exec> place; ///< [num_modes] (i0 (order + 1) + i1) (order + 1) + i2
};

namespace detail {

template<int order, bool by_targets, class Exec>
void launch_sized(const Exec& exec, const HexaBatch<Exec>& batch, const SizedTables<Exec>& tables,
                  const Array<std::uint32_t, Exec>& target, std::int64_t first_slot,
                  const Array<double, Exec>& x, const Array<double, Exec>& y) {
  using Kernel = std::conditional_t<sized_shapes[order - 1].planes, SizedPlanes<order, by_targets>,
                                    SizedLines<order, by_targets>>;
  Kernel kernel{};
  std::copy(tables.value.begin(), tables.value.end(), &kernel.value[0][0]);
  std::copy(tables.derivative.begin(), tables.derivative.end(), &kernel.derivative[0][0]);
  std::copy(tables.point.begin(), tables.point.end(), kernel.point);
  std::copy(tables.weight.begin(), tables.weight.end(), kernel.weight);
  kernel.num_modes = batch.num_modes;
  kernel.num_elem = batch.num_elem;
  kernel.elem_stride = batch.elem_stride;
  kernel.point_stride = batch.point_stride;
  kernel.line_of_pair = tables.line;
  kernel.place = tables.place;
  kernel.signed_mode = batch.signed_mode;
  kernel.corner = batch.corner;
  kernel.jacobian = batch.jacobian;
  kernel.elasticity = batch.elasticity;
  kernel.x = x;
  kernel.y = y;
  if (by_targets) {
    kernel.target = target;
    kernel.target.data += first_slot;
  } else {
    kernel.y.data += 3 * first_slot;
  }
  launch_wide_teams("ossatura::multiply_sized", exec,
                    (batch.num_elem + Kernel::elems - 1) / Kernel::elems, Kernel::max_threads,
                    Kernel::bytes, kernel);
}

template<int order, class Exec>
void launch_sized_form(const Exec& exec, const HexaBatch<Exec>& batch,
                       const SizedTables<Exec>& tables, const Array<std::uint32_t, Exec>& target,
                       std::int64_t first_slot, const Array<double, Exec>& x,
                       const Array<double, Exec>& y) {
  if (target.data())
    return launch_sized<order, true>(exec, batch, tables, target, first_slot, x, y);
  if constexpr (!sized_shapes[order - 1].targets)
    launch_sized<order, false>(exec, batch, tables, target, first_slot, x, y);
}

/// The instance of the batch's order, which is one of i + 1.
template<class Exec, int... i>
void launch_sized_order(const Exec& exec, const HexaBatch<Exec>& batch,
                        const SizedTables<Exec>& tables, const Array<std::uint32_t, Exec>& target,
                        std::int64_t first_slot, const Array<double, Exec>& x,
                        const Array<double, Exec>& y, std::integer_sequence<int, i...>) {
  ((batch.order == i + 1 ? launch_sized_form<i + 1>(exec, batch, tables, target, first_slot, x, y)
                         : void()),
   ...);
}

} // namespace detail

/// Throws std::invalid_argument unless the modes are lexicographic, each index with all values from
/// 0 to one that depends on those before it, and the batch has order + 1 points. Fences.
template<class Exec>
SizedTables<Exec> make_sized_tables(const Exec& exec, const HexaBatch<Exec>& batch) {
  OSSATURA_REQUIRE(batch.points == batch.order + 1,
                   batch.points << " points for order " << batch.order);
  const int n = batch.points;
  const std::vector<int> mode = download(exec, batch.mode);
  std::vector<int> line(std::size_t(2 * n * n), 0), place;
  for (int m = 0; m < batch.num_modes; ++m) {
    const int* const own = &mode[std::size_t(3 * m)];
    const std::size_t pair = std::size_t(own[0] * n + own[1]);
    if (own[2] == 0)
      line[2 * pair] = m;
    OSSATURA_REQUIRE(line[2 * pair] + own[2] == m && line[2 * pair + 1] == own[2],
                     "mode " << m << " is out of order");
    ++line[2 * pair + 1];
    place.push_back(int(pair) * n + own[2]);
  }
  SizedTables<Exec> tables;
  tables.value = download(exec, batch.value);
  tables.derivative = download(exec, batch.derivative);
  tables.point = download(exec, batch.point);
  tables.weight = download(exec, batch.weight);
  tables.line = upload(exec, "ossatura::sized_tables::line", line);
  tables.place = upload(exec, "ossatura::sized_tables::place", place);
  return tables;
}

/// Whether the sized product is there for a batch.
template<class Exec>
bool has_sized_product(const HexaBatch<Exec>& batch) {
  return BackendTraits<Exec>::is_device && batch.points == batch.order + 1;
}

/// Whether results of an order are written by targets always: where sums of many slots gain more
/// than writing in small pieces costs.
inline bool needs_targets(int order) {
  return detail::sized_shapes[order - 1].targets;
}

/// As multiply_matrix_free (multiply.hpp), on devices; the batch's slots begin at `first_slot` of y
/// [num_slots, 3]. With `target` (SlotTargets) results are written there, signs applied. Does not
/// fence. Throws std::invalid_argument if the order needs targets and there are none.
template<class Exec>
void multiply_sized(const Exec& exec, const HexaBatch<Exec>& batch, const SizedTables<Exec>& tables,
                    const Array<std::uint32_t, Exec>& target, std::int64_t first_slot,
                    const Array<double, Exec>& x, const Array<double, Exec>& y) {
  static_assert(BackendTraits<Exec>::is_device);
  OSSATURA_REQUIRE(target.data() || !needs_targets(batch.order),
                   "order " << batch.order << " needs targets");
  detail::launch_sized_order(exec, batch, tables, target, first_slot, x, y,
                             std::make_integer_sequence<int, max_hexa_order>());
}

} // namespace ossatura
