// SPDX-License-Identifier: Apache-2.0
// A fused update consumes a stiffness product node by node, in place of a later pass over vectors.
// An operator that finishes whole nodes calls an update where it would store the product, so that
// smoothing steps (smoothing.hpp) and residuals cost no pass of their own; other operators
// store the product and a second pass calls the update. An update names the vectors that it reads
// besides x and A x (`load`), so that an operator can fetch them long before the product is there.
#pragma once

#include <ossatura/kernels/algebra/constraints.hpp>

#include <type_traits>

namespace ossatura {

/// y = A x.
template<class Exec, class Scalar>
struct StoreProduct {
  Array<Scalar, Exec> y;

  struct Operands {};
  KOKKOS_FUNCTION Operands load(int) const { return {}; }
  template<class Product>
  KOKKOS_FUNCTION void finish(int node, const Operands&, const Product (&)[3],
                              const Product (&product)[3]) const {
    for (int c = 0; c < 3; ++c)
      y(3 * std::int64_t(node) + c) = Scalar(product[c]);
  }
};

/// r = b - A x at free components, 0 where held.
template<class Exec, class Scalar>
struct StoreResidual {
  Array<std::uint8_t, Exec> held; ///< Constraints::mask
  Array<Scalar, Exec> b, r;       ///< b may alias r

  struct Operands {
    Scalar b[3];
    int held;
  };
  KOKKOS_FUNCTION Operands load(int node) const {
    const std::int64_t i = 3 * std::int64_t(node);
    return {{b(i), b(i + 1), b(i + 2)}, held(node)};
  }
  template<class Product>
  KOKKOS_FUNCTION void finish(int node, const Operands& at, const Product (&)[3],
                              const Product (&product)[3]) const {
    for (int c = 0; c < 3; ++c)
      r(3 * std::int64_t(node) + c) = at.held >> c & 1 ? Scalar(0) : Scalar(at.b[c] - product[c]);
  }
};

/// Whether an update sums up: finish() returns a number for its node, and operators with
/// `sums_updates` store the sum over the nodes of a part, one of num_sums(), at
/// partial_sum[part], where they are added in a fixed order. Where these are not double,
/// add(number, sum) of the update adds a number to one (reproducible_sums/integers.hpp).
template<class Update, class = void>
struct SumsUp : std::false_type {};
template<class Update>
struct SumsUp<Update, std::void_t<decltype(Update::partial_sum)>> : std::true_type {};

/// What a thread adds up for an update; nothing if that does not sum up.
struct NoUpdateSum {};
template<class Update, bool = SumsUp<Update>::value>
struct UpdateSumOf {
  using Type = NoUpdateSum;
};
template<class Update>
struct UpdateSumOf<Update, true> {
  using Type = std::remove_pointer_t<decltype(Update::partial_sum)>;
};
template<class Update>
using UpdateSum = typename UpdateSumOf<Update>::Type;

/// Finishes a node, and adds what it gives to `sum` if the update sums up.
template<class Update, class Operands, class Scalar>
KOKKOS_FORCEINLINE_FUNCTION void
finish_and_add(const Update& update, int node, const Operands& operands, const Scalar (&x)[3],
               const Scalar (&product)[3], [[maybe_unused]] UpdateSum<Update>& sum) {
  if constexpr (std::is_same_v<UpdateSum<Update>, double>)
    sum += update.finish(node, operands, x, product);
  else if constexpr (SumsUp<Update>::value)
    update.add(update.finish(node, operands, x, product), sum);
  else
    update.finish(node, operands, x, product);
}

/// Whether an operator takes updates that sum up.
template<class Operator, class = void>
struct SumsUpdates : std::false_type {};
template<class Operator>
struct SumsUpdates<Operator, std::void_t<decltype(Operator::sums_updates)>>
    : std::bool_constant<Operator::sums_updates> {};

/// Finishes a node whose product is there; `x` is the vector that was multiplied.
template<class Update, class X, class Scalar>
KOKKOS_INLINE_FUNCTION void finish_node(const Update& update, int node, const X& x,
                                        const Scalar (&product)[3]) {
  const std::int64_t i = 3 * std::int64_t(node);
  const Scalar x_node[3] = {x(i), x(i + 1), x(i + 2)};
  update.finish(node, update.load(node), x_node, product);
}

namespace detail {
template<class Exec, class Scalar, class Update>
struct UpdateNodes {
  Array<Scalar, Exec> x, product;
  Update update;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Scalar p[3] = {product(3 * node), product(3 * node + 1), product(3 * node + 2)};
    finish_node(update, int(node), x, p);
  }
};
} // namespace detail

/// Finishes every node with `update`. Operators with `fuses_updates` do it in the product; for
/// others `scratch` [3 num_nodes] takes A x. Does not fence.
template<class Exec, class Operator, class Scalar, class Update>
void apply_then(const Exec& exec, const Operator& matrix, const Array<Scalar, Exec>& x,
                const Array<Scalar, Exec>& scratch, const Update& update) {
  if constexpr (Operator::fuses_updates) {
    matrix.apply_then(exec, x, update);
  } else {
    matrix.apply(exec, x, scratch);
    Kokkos::parallel_for("ossatura::apply_then", range(exec, scratch.extent(0) / 3),
                         detail::UpdateNodes<Exec, Scalar, Update>{x, scratch, update});
  }
}

} // namespace ossatura
