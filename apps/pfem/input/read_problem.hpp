// SPDX-License-Identifier: Apache-2.0
// read_pfem reads problems of elements of high order from JSON; docs/pfem.md has the keys.
#pragma once

#include "apps/pfem/input/document.hpp"

namespace ossatura {

class JsonPlace;

/// Reads the file at `path`; a mesh named there is looked for beside it and not opened yet. Throws
/// InputError naming the file, the place in it and the remedy: for text that is not JSON, unknown
/// and missing keys, wrong types and numbers out of range.
PfemDocument read_pfem(const std::string& path);

/// Parts of it that stand in a file of their own: which vertices or elements (`numbers` is
/// "vertices" or "elements"; other keys are among `more`), and what holds and loads them.
MeshSelection read_pfem_selection(const JsonPlace& place, const std::string& numbers,
                                  const std::vector<std::string>& more);
void read_pfem_loading(const JsonPlace& place, PfemDocument& problem);

/// A material: young and poisson, orthotropic, or elasticity.
PfemMaterial read_pfem_material(const JsonPlace& place);

} // namespace ossatura
