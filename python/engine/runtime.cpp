// SPDX-License-Identifier: Apache-2.0
#include "python/engine/runtime.hpp"

#include <ossatura/core/base/backend.hpp>
#include <ossatura/core/base/region_poll.hpp>
#include <ossatura/core/base/version.hpp>
#include <ossatura/core/machine/kokkos_runtime.hpp>

#include <cctype>

namespace ossatura::python {

namespace {

KokkosRuntime* kokkos = nullptr; // not ended by exit(): a forked process has none of its threads
Holder* first_holder = nullptr;
RuntimeHooks present_hooks{};

} // namespace

Holder::Holder()
    : next_(first_holder)
    , place_(&first_holder) {
  if (next_ != nullptr)
    next_->place_ = &next_;
  first_holder = this;
}

Holder::~Holder() {
  *place_ = next_;
  if (next_ != nullptr)
    next_->place_ = place_;
}

void start_runtime(const RuntimeHooks& hooks) {
  RuntimeOptions options;
  options.threads = hooks.threads;
  kokkos = new KokkosRuntime(options);
  present_hooks = hooks;
  set_region_poll(hooks.poll);
  set_log_sink(hooks.log);
}

bool is_runtime_started() {
  return kokkos != nullptr;
}

void finish_runtime() {
  set_region_poll(nullptr);
  set_log_sink({});
  for (Holder* holder = first_holder; holder != nullptr;) {
    Holder* const next = holder->next();
    holder->drop();
    holder = next;
  }
  delete kokkos;
  kokkos = nullptr;
}

bool is_cancelled() {
  return present_hooks.is_cancelled != nullptr && present_hooks.is_cancelled();
}

void throw_if_cancelled() {
  if (present_hooks.poll != nullptr)
    present_hooks.poll();
}

std::exception_ptr translated(std::exception_ptr error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::invalid_argument&) {
  } catch (const InputError&) {
  } catch (const UsageError&) {
  } catch (const BackendError&) {
  } catch (const std::exception& e) {
    if (is_out_of_memory(e))
      return std::make_exception_ptr(OutOfMemory(e.what()));
  } catch (...) {
  }
  return error;
}

std::string without_place(const std::string& message) {
  for (const char* extension : {".cpp:", ".hpp:"})
    if (const std::size_t place = message.find(extension); place != std::string::npos) {
      std::size_t end = place + 5;
      while (end < message.size() && std::isdigit(static_cast<unsigned char>(message[end])) != 0)
        ++end;
      if (end > place + 5 && message.compare(end, 2, ": ") == 0)
        return message.substr(end + 2);
    }
  return message;
}

int count_threads(const std::string& backend) {
  return with_backend(backend, [&](const auto&) { return host_threads(backend); });
}

std::vector<std::string> list_backends() {
  return backend_names();
}

std::string describe_build() {
  return std::string("ossatura ") + version() + " (" + git_hash() + "), Kokkos " +
         kokkos_version() + ", " + compiler();
}

} // namespace ossatura::python
