// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/dicom/module.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/base/version.hpp>

#if defined(OSSATURA_HAS_GDCM)
#include <cstring>

#include <dlfcn.h>
#include <sys/resource.h>
#endif

namespace ossatura {

#if defined(OSSATURA_HAS_GDCM)

namespace {

/// The module or, where there is none, why.
struct Loaded {
  const DicomModule* module = nullptr;
  std::string reason;
};

Loaded load_module() {
  Loaded loaded;
  for (const char* place : {"$ORIGIN/" OSSATURA_DICOM_FILE,
                            "$ORIGIN/" OSSATURA_DICOM_FOLDER_FROM_BIN "/" OSSATURA_DICOM_FILE,
                            OSSATURA_DICOM_FOLDER "/" OSSATURA_DICOM_FILE}) {
    void* const library = ::dlopen(place, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      // Of places without it the first says enough; one that lacks a library of GDCM says more.
      const std::string reason = ::dlerror();
      if (loaded.reason.empty() || reason.find(OSSATURA_DICOM_FILE ": cannot open") == reason.npos)
        loaded.reason = reason;
      continue;
    }
    const auto* module = static_cast<const DicomModule*>(::dlsym(library, "ossatura_dicom"));
    if (module != nullptr && std::strcmp(module->version, version()) == 0)
      return {module, {}};
    loaded.reason = std::string(place) + " is of another version";
  }
  return loaded;
}

/// Whether there was no room for a library. The loader says the same of folders that nothing may be
/// run from, and not why: without a limit it is that.
bool is_for_want_of_memory(const std::string& reason) {
  const auto is_limited = [](auto resource) {
    rlimit limit{};
    return ::getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  };
  return reason.find("annot allocate memory") != reason.npos ||
         (reason.find("failed to map segment") != reason.npos &&
          (is_limited(RLIMIT_AS) || is_limited(RLIMIT_DATA)));
}

} // namespace

const DicomModule& dicom_module(const std::string& path) {
  static const Loaded loaded = load_module();
  if (loaded.module == nullptr && is_for_want_of_memory(loaded.reason))
    fail<BackendError>(path, ": is DICOM, and there is no memory for the module that reads it (",
                       loaded.reason, "): raise the limit (ulimit -v), or take it away");
  if (loaded.module == nullptr)
    fail<InputError>(path, ": is DICOM, and the module that reads it cannot be loaded (",
                     loaded.reason,
                     "): " OSSATURA_DICOM_FILE " belongs beside the program, and "
                     "needs GDCM (Debian: libgdcm3.0); or convert the series with dcm2niix to "
                     ".nii");
  return *loaded.module;
}

#else

const DicomModule& dicom_module(const std::string& path) {
  fail<InputError>(path, ": is DICOM, which this build does not read: convert the series with "
                         "dcm2niix to .nii, or build with GDCM (Debian: libgdcm-dev)");
}

#endif

} // namespace ossatura
