// SPDX-License-Identifier: Apache-2.0
// The error stack of the HDF5 library: what failed, for messages of our own.
#pragma once

#include <hdf5.h>

#include <string>

namespace ossatura::detail {

/// Keeps the library from printing its error stack; restores the caller's setting at the end.
class Silence {
public:
  Silence() {
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Silence() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

private:
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

/// The library's reason of a failure, from the innermost frame.
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
