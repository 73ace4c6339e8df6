// SPDX-License-Identifier: Apache-2.0
// Calls of the HDF5 library: one thread at a time, and with messages of our own about what failed.
#pragma once

#include <hdf5.h>

#include <mutex>
#include <string>

namespace ossatura::detail {

/// Stands around every call of the library, which as packaged is not safe for threads: while it
/// lives, no other thread has one. (Calls of one thread may be nested.) It keeps the library from
/// printing its error stack, and restores the caller's setting at the end.
class LibraryCall {
public:
  LibraryCall()
      : lock_(mutex()) {
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~LibraryCall() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;

private:
  static std::recursive_mutex& mutex() {
    static std::recursive_mutex mutex;
    return mutex;
  }

  std::lock_guard<std::recursive_mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

/// The library's reason of a failure, from the innermost frame. To be asked for in the LibraryCall
/// of what failed.
inline std::string reason() {
  std::string text;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned frame, const H5E_error2_t* error, void* data) -> herr_t {
        if (frame == 0 && error->desc != nullptr)
          *static_cast<std::string*>(data) = error->desc;
        return 0;
      },
      &text);
  return text.empty() ? "" : " (HDF5: " + text + ")";
}

} // namespace ossatura::detail
