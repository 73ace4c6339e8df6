// SPDX-License-Identifier: Apache-2.0
// These functions measure the multiply-add rate of a host core. They are compiled once for each
// instruction set (core/machine/instruction_set.hpp), whatever else the benchmark is compiled for:
// the ceiling is the machine's. No Kokkos.
#pragma once

namespace ossatura::bench {

/// `multiply` gives the sum of all chains after `steps` steps c <- a c + b; `num_chains` are
/// independent, lanes of vector registers included.
template<class Scalar>
struct HostChains {
  int num_chains;
  Scalar (*multiply)(Scalar a, Scalar b, int steps);
};

struct HostMultiplyAdds {
  HostChains<double> in_double;
  HostChains<float> in_float;

  const HostChains<double>& of(double) const { return in_double; }
  const HostChains<float>& of(float) const { return in_float; }
};

/// Null where the program was compiled for processors that cannot have it.
const HostMultiplyAdds* baseline_multiply_adds();
const HostMultiplyAdds* avx2_multiply_adds();
const HostMultiplyAdds* avx512_multiply_adds();

} // namespace ossatura::bench
