// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include <ossatura/core/machine/instruction_set.hpp>

#include <algorithm>
#include <fstream>
#include <string>

using namespace ossatura;

namespace {
/// What the kernel says the processor has and the system saves; "" where it does not say.
std::string flags_of_processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("flags", 0) == 0)
      return line + " ";
  return "";
}
} // namespace

TEST_CASE("The best instruction set is what the processor has", "[instruction_set]") {
  const std::string flags = flags_of_processor();
  const auto has = [&](const std::string& name) {
    return flags.find(" " + name + " ") != std::string::npos;
  };
  InstructionSet expected = InstructionSet::baseline;
  if (has("avx2") && has("fma"))
    expected = InstructionSet::avx2;
  if (has("avx2") && has("fma") && has("avx512f") && has("avx512bw") && has("avx512dq") &&
      has("avx512vl"))
    expected = InstructionSet::avx512;
  INFO(flags);
  CHECK(std::string(name_of(best_instruction_set())) == name_of(expected));
}

TEST_CASE("A limit holds until the next", "[instruction_set]") {
  CHECK(instruction_set() == best_instruction_set());
  limit_instruction_set(InstructionSet::baseline);
  CHECK(instruction_set() == InstructionSet::baseline);
  limit_instruction_set(InstructionSet::avx2);
  CHECK(instruction_set() == std::min(best_instruction_set(), InstructionSet::avx2));
  limit_instruction_set(InstructionSet::avx512);
  CHECK(instruction_set() == best_instruction_set());
}
