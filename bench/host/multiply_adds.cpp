// SPDX-License-Identifier: Apache-2.0
// The chains of multiply-adds use vector types of GCC and Clang, because loops over the chains are
// not always vectorised. The file is apart from Kokkos, so that nvcc never sees these types.
#include "bench/host/multiply_adds.hpp"

namespace ossatura::bench {

namespace {

#if defined(__AVX512F__)
constexpr int register_bytes = 64;
#elif defined(__AVX__)
constexpr int register_bytes = 32;
#else
constexpr int register_bytes = 16;
#endif

constexpr int registers = 12; // with the two constants fewer than the 16 that there are

template<class Scalar>
struct Register;
template<>
struct Register<double> {
  typedef double type __attribute__((vector_size(register_bytes)));
};
template<>
struct Register<float> {
  typedef float type __attribute__((vector_size(register_bytes)));
};

} // namespace

template<class Scalar>
int num_host_chains() {
  return registers * register_bytes / int(sizeof(Scalar));
}

template<class Scalar>
Scalar multiply_adds(Scalar a, Scalar b, int steps) {
  using Vector = typename Register<Scalar>::type;
  const Vector factor = Vector{} + a, summand = Vector{} + b;
  Vector chain[registers] = {};
  for (int i = 0; i < registers; ++i) // unequal, or one chain would do
    chain[i] = factor * Scalar(i);
  for (int step = 0; step < steps; ++step)
    for (int i = 0; i < registers; ++i)
      chain[i] = factor * chain[i] + summand;
  Vector all = {};
  for (int i = 0; i < registers; ++i)
    all += chain[i];
  Scalar sum = 0;
  for (int lane = 0; lane < register_bytes / int(sizeof(Scalar)); ++lane)
    sum += all[lane];
  return sum;
}

template int num_host_chains<double>();
template int num_host_chains<float>();
template double multiply_adds(double, double, int);
template float multiply_adds(float, float, int);

} // namespace ossatura::bench
