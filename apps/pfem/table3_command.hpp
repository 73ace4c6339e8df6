// SPDX-License-Identifier: Apache-2.0
// `ossatura pfem table3` repeats table 3 of A. Novikov, I. Kuzmin, N. Nedozhogin, S. Kopysov,
// Formation of finite element systems on GPGPU (in Russian), PaVT 2014: seconds of one core for
// stiffness matrices of order 1 to 5, and how many times faster schemes AI and AII are elsewhere.
#pragma once

#include "apps/driver/context.hpp"
#include <ossatura/kernels/pfem/stiffness/method.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace ossatura {

struct Table3Options {
  CommonOptions common;
  std::int64_t elements = 10000;
  std::int64_t reference_elements = 0; ///< 0: as many as take about a second
  int max_order = 5;
};

struct Table3Time {
  StiffnessMethod method;
  std::string refusal;   ///< why the backend cannot do it, or empty
  double seconds = 0;    ///< of all elements
  double difference = 0; ///< from the reference: largest of an entry, by the largest entry
};

struct Table3Row {
  int order = 0, points = 0, dofs = 0; ///< of an element; points along each axis
  std::int64_t reference_elements = 0; ///< that were timed
  double reference_seconds = 0;        ///< of all elements, in proportion
  std::vector<Table3Time> times;
};

/// The whole subcommand: parses, checks, runs. Returns an exit code.
int table3_command(const Invocation& invocation);

/// Elements are unit cubes of one material, quadrature and scaling are the paper's.
Table3Row measure_table3(const Table3Options& options, int order);

} // namespace ossatura
