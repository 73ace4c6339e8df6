// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/machine/instruction_set.hpp>

#include <algorithm>
#include <atomic>

namespace ossatura {

namespace {
std::atomic<InstructionSet>& chosen_limit() {
  static std::atomic<InstructionSet> limit{InstructionSet::avx512};
  return limit;
}

InstructionSet detect() {
#if defined(__x86_64__)
  // These ask for the registers that the operating system saves, too.
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
    return InstructionSet::baseline;
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return has_avx512 ? InstructionSet::avx512 : InstructionSet::avx2;
#else
  return InstructionSet::baseline;
#endif
}
} // namespace

InstructionSet best_instruction_set() {
  static const InstructionSet best = detect();
  return best;
}

InstructionSet instruction_set() {
  return std::min(best_instruction_set(), chosen_limit().load());
}

void limit_instruction_set(InstructionSet limit) {
  chosen_limit() = limit;
}

} // namespace ossatura
