// SPDX-License-Identifier: Apache-2.0
// Which nodes and elements of a mesh a problem means.
#pragma once

#include "apps/topopt/problem_document.hpp"
#include "core/hexa_model.hpp"

#include <string>
#include <vector>

namespace femura {

/// Finds sets, numbers, and what lies in boxes, surfaces included and rounding allowed for.
class HexaSelector {
public:
  /// The model must outlive this. `no_numbers` says why numbers are not those that users know;
  /// empty where they are.
  HexaSelector(const HexaModel& model, std::string no_numbers);

  /// Numbers, ascending and each once; throw InputError where there are none, with the names of the
  /// sets or the extent of the body.
  std::vector<std::int32_t> nodes(const SelectionChoice& choice) const;
  std::vector<std::int32_t> elements(const SelectionChoice& choice) const;

  /// Lower and upper corner of the body.
  const std::array<double, 6>& bounds() const { return bounds_; }
  /// Lengths below this are rounding.
  double slack() const { return slack_; }

private:
  using Sets = std::map<std::string, std::vector<std::int32_t>>;
  std::vector<std::int32_t> select(const SelectionChoice& choice, const Sets& sets,
                                   std::size_t count, const char* what, bool by_centres) const;
  bool has(const std::array<double, 6>& box, const double* x) const;

  const HexaModel& model_;
  std::string no_numbers_;
  std::array<double, 6> bounds_;
  double slack_;
};

} // namespace femura
