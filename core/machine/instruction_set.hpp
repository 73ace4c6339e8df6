// SPDX-License-Identifier: Apache-2.0
// The instruction sets for which kernels of cores are compiled. A program that runs on every
// processor of a family takes the best that its processor has, when it runs.
#pragma once

#include <ossatura/core/base/names.hpp>

namespace ossatura {

/// What a kernel may use: what every processor of the family has (SSE2 on x86-64, NEON on 64-bit
/// ARM), AVX2 with fused multiply-adds, or AVX-512 with its extensions F, BW, DQ and VL. Each
/// includes those before it.
enum class InstructionSet { baseline, avx2, avx512 };

constexpr Names<InstructionSet> names_of(InstructionSet) {
  return {{InstructionSet::baseline, "baseline"},
          {InstructionSet::avx2, "avx2"},
          {InstructionSet::avx512, "avx512"}};
}

/// The best of this processor and operating system.
InstructionSet best_instruction_set();

/// That of kernels whose results do not depend on it: the best, or less where the program set a
/// limit.
InstructionSet instruction_set();

/// These kernels take `limit` at the most from now on, so that tests and benchmarks compare sets.
void limit_instruction_set(InstructionSet limit);

/// The functions for instruction_set(), or the best below it. `avx2` and `avx512` are null where
/// the program was compiled for processors that cannot have them.
template<class Functions>
const Functions& choose_by_instruction_set(const Functions* baseline, const Functions* avx2,
                                           const Functions* avx512) {
  const InstructionSet set = instruction_set();
  if (set >= InstructionSet::avx512 && avx512 != nullptr)
    return *avx512;
  return set >= InstructionSet::avx2 && avx2 != nullptr ? *avx2 : *baseline;
}

} // namespace ossatura
