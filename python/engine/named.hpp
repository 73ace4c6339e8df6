// SPDX-License-Identifier: Apache-2.0
// named() is the value of an enumeration that a caller from Python gave by its name.
#pragma once

#include <ossatura/core/base/names.hpp>
#include <ossatura/core/base/require.hpp>

#include <string>

namespace ossatura::python {

/// Throws UsageError, which says what there is, where the name is none; `what` says of what.
template<class Enum>
Enum named(const std::string& name, const char* what) {
  std::string known;
  for (const Named<Enum>& entry : name_table<Enum>) {
    if (name == entry.name)
      return entry.value;
    known += std::string(known.empty() ? "\"" : ", \"") + entry.name + "\"";
  }
  fail<UsageError>(what, " \"", name, "\": choose one of ", known);
}

} // namespace ossatura::python
