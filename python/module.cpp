// SPDX-License-Identifier: Apache-2.0
// The module ossatura._core: errors, the engine, and the parts of the systems. The Python files
// beside it are its only users; they check shapes and types, and have the documentation.
#include "python/module.hpp"

#include "python/engine/device_memory.hpp"
#include "python/engine/engine.hpp"
#include <ossatura/core/base/require.hpp>

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace ossatura::python;

namespace {

/// An array of 0 in memory of the GPU, for other libraries by DLPack.
nb::ndarray<nb::array_api> zeros_on_device(const std::vector<std::size_t>& shape, bool is_double) {
  const nb::dlpack::dtype type = is_double ? nb::dtype<double>() : nb::dtype<float>();
  std::size_t bytes = type.bits / 8;
  for (const std::size_t n : shape)
    bytes *= n;
  const DeviceMemory made = Engine::instance().run([&] { return allocate_on_device(bytes); });
  const nb::capsule owner(made.data, [](void* data) noexcept { free_on_device(data); });
  return nb::ndarray<nb::array_api>(made.data, shape.size(), shape.data(), owner, nullptr, type,
                                    nb::device::cuda::value, made.device);
}

/// Messages of the library's preconditions, whichever function they come through.
void translate_precondition(const std::exception_ptr& error, void*) {
  try {
    std::rethrow_exception(error);
  } catch (const std::invalid_argument& e) {
    PyErr_SetString(PyExc_ValueError, without_place(e.what()).c_str());
  }
}

} // namespace

NB_MODULE(_core, module) {
  nb::set_leak_warnings(false); // whoever keeps references at exit, as torch does, is no concern
  nb::register_exception_translator(translate_precondition);
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
  module.def("zeros_on_device", zeros_on_device, "shape"_a, "is_double"_a);
  module.def("finish", [] { Engine::instance().stop(); });

  bind_bone(module);
  bind_eikonal(module);
  bind_pfem(module);
  bind_softbody(module);
  bind_topopt(module);
}
