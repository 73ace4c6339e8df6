// SPDX-License-Identifier: Apache-2.0
// The definitions of multiply_adds.hpp, which the sources beside it include, each for registers of
// another width. Vector types of GCC and Clang, because loops over the chains are not always
// vectorised.
#pragma once

#include "bench/host/multiply_adds/multiply_adds.hpp"

namespace ossatura::bench {

inline constexpr int num_registers = 12; // with the two constants fewer than the 16 that there are

namespace {

template<class Scalar, int register_bytes>
Scalar multiply_adds(Scalar a, Scalar b, int steps) {
  typedef Scalar Vector __attribute__((vector_size(register_bytes)));
  const Vector factor = Vector{} + a, summand = Vector{} + b;
  Vector chain[num_registers] = {};
#pragma GCC unroll 12
  for (int i = 0; i < num_registers; ++i) // unequal, or one chain would do
    chain[i] = factor * Scalar(i);
  for (int step = 0; step < steps; ++step)
#pragma GCC unroll 12 // or the chains stay in memory
    for (int i = 0; i < num_registers; ++i)
      chain[i] = factor * chain[i] + summand;
  Vector all = {};
#pragma GCC unroll 12
  for (int i = 0; i < num_registers; ++i)
    all += chain[i];
  Scalar sum = 0;
  for (int lane = 0; lane < register_bytes / int(sizeof(Scalar)); ++lane)
    sum += all[lane];
  return sum;
}

template<int register_bytes>
constexpr HostMultiplyAdds make_multiply_adds() {
  return {
      {num_registers * register_bytes / int(sizeof(double)), multiply_adds<double, register_bytes>},
      {num_registers * register_bytes / int(sizeof(float)), multiply_adds<float, register_bytes>}};
}

} // namespace

} // namespace ossatura::bench
