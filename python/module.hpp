// SPDX-License-Identifier: Apache-2.0
// The parts of the module _core.
#pragma once

#include <nanobind/nanobind.h>

namespace ossatura::python {

void bind_bone(nanobind::module_& module);
void bind_eikonal(nanobind::module_& module);
void bind_pfem(nanobind::module_& module);
void bind_softbody(nanobind::module_& module);
void bind_topopt(nanobind::module_& module);

} // namespace ossatura::python
