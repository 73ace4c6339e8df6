// SPDX-License-Identifier: Apache-2.0
// These functions take the part of an array that is about nodes which a process owns.
#pragma once

#include <ossatura/core/comm/communicator.hpp>
#include <ossatura/kernels/algebra/constraints.hpp>
#include <ossatura/kernels/algebra/ranks/owned_nodes.hpp>

namespace ossatura {

/// The entries of owned nodes of x [components num_nodes], an Array; shares its memory.
template<class View>
View owned_part(const OwnedNodes& owned, const View& x, int components) {
  return View(x.data() + std::int64_t(components) * owned.begin,
              std::size_t(components) * std::size_t(owned.count()));
}

namespace detail {
template<class Exec>
struct CountOwned {
  OwnedNodes owned;
  Array<int, Exec> node;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& lower, std::int64_t& own) const {
    lower += node(i) < owned.begin;
    own += owned.has(node(i));
  }
};
} // namespace detail

/// The owned ones of `node`, which ascends; shares its memory. Fences.
template<class Exec>
Array<int, Exec> owned_of_list(const Exec& exec, const OwnedNodes& owned,
                               const Array<int, Exec>& node) {
  std::int64_t lower = 0, own = 0;
  Kokkos::parallel_reduce("ossatura::owned_of_list", range(exec, node.extent(0)),
                          detail::CountOwned<Exec>{owned, node}, lower, own);
  return Array<int, Exec>(node.data() + lower, std::size_t(own));
}

/// The held components of the nodes that all processes of `comm` own, by their `mask` [num_nodes].
/// By all processes. Fences.
template<class Exec>
std::int64_t count_held_dofs(const Exec& exec, const Communicator& comm, const OwnedNodes& owned,
                             const Array<std::uint8_t, Exec>& mask) {
  return comm.sum(make_constraints(exec, owned_part(owned, mask, 1)).num_dofs);
}

} // namespace ossatura
