// SPDX-License-Identifier: Apache-2.0
// This function measures the multiply-add rate of a host core; no Kokkos.
#pragma once

namespace ossatura::bench {

/// Independent chains of multiply-adds that one call of `multiply_adds` works on, lanes of vector
/// registers included.
template<class Scalar>
int num_host_chains();

/// The sum of all chains after `steps` steps c <- a c + b, in the widest vector registers
/// that this file is compiled for.
template<class Scalar>
Scalar multiply_adds(Scalar a, Scalar b, int steps);

} // namespace ossatura::bench
