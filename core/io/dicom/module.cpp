// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/dicom/module.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/base/version.hpp>

#if defined(OSSATURA_HAS_GDCM)
#include <cstring>
#include <dlfcn.h>
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

} // namespace

const DicomModule& dicom_module(const std::string& path) {
  static const Loaded loaded = load_module();
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
