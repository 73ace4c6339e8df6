// SPDX-License-Identifier: Apache-2.0
// Integer sums add numbers as multiples of a quantum. Integers give the same sum in any order, so a
// dot product has the same bits for any number of processes, threads and tiles, wherever its terms
// are made: inside products, whose tiles do not end where processes do. The quantum is a power of
// two that is chosen before the sum, by a value that it is like [1, 2].
//
// [1] J. Demmel, H. D. Nguyen. Parallel reproducible summation. IEEE Trans. Comput. 64 (2015)
//     2060-2070, doi:10.1109/TC.2014.2345391. Their bins need no value beforehand, and more words.
// [2] U. Kulisch. Computer arithmetic and validity. De Gruyter (2008): the long accumulator.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/comm/device_comm.hpp>
#include <ossatura/core/parallel/warp_sum.hpp>

#include <cmath>
#include <cstdint>

namespace ossatura {

/// A sum in two words, and how many of its terms were too large or not finite.
struct IntegerSum {
  std::int64_t high = 0, low = 0, bad = 0;

  KOKKOS_FUNCTION IntegerSum& operator+=(const IntegerSum& other) {
    high += other.high;
    low += other.low;
    bad += other.bad;
    return *this;
  }
};

/// The quanta of both words. Up to 2^33 terms have room; a term may have 2^31 times the size of the
/// sum that was expected, and is rounded to 2^-58 of it.
class IntegerScale {
public:
  IntegerScale() = default; ///< of nothing: is_set() is false
  /// For a sum that is about as large as `expected`, or not set where that is no positive number.
  explicit IntegerScale(double expected) {
    if (!(expected > 1e-200 && expected < 1e200))
      return;
    high_ = std::ldexp(1.0, std::ilogb(expected) - 30);
    low_ = std::ldexp(high_, -low_bits);
    per_high_ = 1 / high_;
    per_low_ = 1 / low_;
  }

  bool is_set() const { return high_ > 0; }

  KOKKOS_FORCEINLINE_FUNCTION void add(double term, IntegerSum& sum) const {
    const double units = term * per_high_;
    if (!(units < largest && units > -largest)) { // or not a number
      ++sum.bad;
      return;
    }
    const std::int64_t high = std::int64_t(units);                // towards zero
    const double rest = (term - double(high) * high_) * per_low_; // without rounding
    sum.high += high;
    sum.low += std::int64_t(rest + (rest < 0 ? -0.5 : 0.5));
  }

  /// NaN where a term was bad.
  KOKKOS_FUNCTION double value(const IntegerSum& sum) const {
    return sum.bad > 0 ? Kokkos::Experimental::quiet_NaN_v<double>
                       : double(sum.high) * high_ + double(sum.low) * low_;
  }

private:
  static constexpr int low_bits = 28;
  static constexpr double largest = 4611686018427387904.0; ///< 2^62
  double high_ = 0, low_ = 0, per_high_ = 0, per_low_ = 0;
};

/// The sum over the 32 lanes of a warp, all of which are here; each gets it.
KOKKOS_FORCEINLINE_FUNCTION IntegerSum warp_total(const IntegerSum& sum) {
  return {warp_sum<32>(sum.high), warp_sum<32>(sum.low), warp_sum<32>(sum.bad)};
}
KOKKOS_FORCEINLINE_FUNCTION double warp_total(double sum) {
  return warp_sum<32>(sum);
}

/// An update that sums up (fused_updates/fused.hpp), with its sums as integers. `partial_sum` of
/// the update itself is not used.
template<class Update>
struct SumAsIntegers {
  Update update;
  IntegerScale scale;
  IntegerSum* partial_sum;

  using Operands = typename Update::Operands;
  KOKKOS_FUNCTION Operands load(int node) const { return update.load(node); }
  template<class Scalar>
  KOKKOS_FUNCTION double finish(int node, const Operands& at, const Scalar (&x)[3],
                                const Scalar (&product)[3]) const {
    return update.finish(node, at, x, product);
  }
  KOKKOS_FORCEINLINE_FUNCTION void add(double term, IntegerSum& sum) const { scale.add(term, sum); }
};

} // namespace ossatura

namespace Kokkos {
template<>
struct reduction_identity<ossatura::IntegerSum> {
  KOKKOS_FORCEINLINE_FUNCTION static ossatura::IntegerSum sum() { return {}; }
};
} // namespace Kokkos

namespace ossatura {

namespace detail {
template<class Exec>
struct AddIntegerParts {
  Array<IntegerSum, Exec> part;
  KOKKOS_FUNCTION void operator()(std::int64_t i, IntegerSum& sum) const { sum += part(i); }
};

template<class Exec>
struct AddIntegerSums {
  IntegerScale scale;
  Array<IntegerSum, Exec> of_ranks;
  Array<double, Exec> to;
  KOKKOS_FUNCTION void operator()(std::int64_t) const {
    IntegerSum total;
    for (std::int64_t r = 0; r < std::int64_t(of_ranks.extent(0)); ++r)
      total += of_ranks(r);
    to(0) = scale.value(total);
  }
};
} // namespace detail

/// Adds the sums of parts and of the processes of a communicator. Copies share their memory.
template<class Exec>
class IntegerSums {
  using Total = Kokkos::View<IntegerSum, typename Exec::memory_space,
                             Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

public:
  IntegerSums() = default;
  IntegerSums(const Exec& exec, const DeviceComm<Exec>& comm, std::int64_t most_parts)
      : comm_(comm)
      , part_(make_uninitialized<IntegerSum>(exec, most_parts, "ossatura::integer_sums::parts"))
      , mine_(make_uninitialized<IntegerSum>(exec, 1, "ossatura::integer_sums::mine"))
      , all_(make_uninitialized<IntegerSum>(exec, comm.communicator().size(),
                                            "ossatura::integer_sums::all")) {}

  /// [most_parts] sums of parts, for a kernel to write.
  IntegerSum* parts() const { return part_.data(); }

  /// The sum of this process, as a reduction of Kokkos leaves it.
  Kokkos::Sum<IntegerSum, typename Exec::memory_space> mine() const {
    return Kokkos::Sum<IntegerSum, typename Exec::memory_space>(Total(mine_.data()));
  }

  /// mine() = the sum of the first `count` parts. Does not fence.
  void add_parts(const Exec& exec, std::int64_t count) const {
    Kokkos::parallel_reduce("ossatura::IntegerSums::add_parts", range(exec, count),
                            detail::AddIntegerParts<Exec>{part_}, mine());
  }

  /// to(0) = the sum of mine() over all processes, which all call this. Fences as
  /// DeviceComm::all_gather.
  void add_ranks(const Exec& exec, const IntegerScale& scale, const Array<double, Exec>& to) const {
    comm_.all_gather(exec, mine_, all_);
    Kokkos::parallel_for("ossatura::IntegerSums::add_ranks", range(exec, 1),
                         detail::AddIntegerSums<Exec>{scale, all_, to});
  }

private:
  DeviceComm<Exec> comm_;
  Array<IntegerSum, Exec> part_, mine_, all_; ///< [most_parts], [1], [ranks]
};

} // namespace ossatura
