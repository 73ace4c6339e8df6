// SPDX-License-Identifier: Apache-2.0
// The module ossatura._core: errors, the engine, and the parts of the systems. The Python files
// beside it are its only users; they check shapes and types, and have the documentation.
#include "python/module.hpp"

#include "python/engine/engine.hpp"
#include <ossatura/core/base/require.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace ossatura::python;

NB_MODULE(_core, module) {
  nb::set_leak_warnings(false); // whoever keeps references at exit, as torch does, is no concern
  nb::exception<ossatura::InputError>(module, "InputError", PyExc_ValueError);
  nb::exception<ossatura::UsageError>(module, "UsageError", PyExc_ValueError);
  nb::exception<NotConverged>(module, "NotConverged", PyExc_RuntimeError);
  nb::exception<ossatura::BackendError>(module, "BackendError", PyExc_RuntimeError);

  module.def("backends", list_backends);
  module.def("describe", describe_build);
  module.def(
      "set_threads", [](std::optional<int> threads) { Engine::instance().set_threads(threads); },
      nb::arg("threads").none());
  module.def(
      "set_log", [](nb::object log) { Engine::instance().set_log(std::move(log)); }, "log"_a);
  module.def(
      "threads",
      [](const std::string& backend) {
        return Engine::instance().run([&] { return count_threads(backend); });
      },
      "backend"_a);
  module.def("finish", [] { Engine::instance().stop(); });

  bind_bone(module);
  bind_eikonal(module);
  bind_pfem(module);
  bind_softbody(module);
  bind_topopt(module);
}
