// SPDX-License-Identifier: Apache-2.0
// Numeric attributes of HDF5 files, which the library writes and does not read.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <vector>

namespace ossatura_test {

/// The numbers of an attribute of `object`; empty if they cannot be read.
inline std::vector<std::int64_t> numbers_of(hid_t object, const char* name) {
  const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  const hid_t space = H5Aget_space(attribute);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  std::vector<std::int64_t> values(std::size_t(count > 0 ? count : 0));
  if (count > 0 && H5Aread(attribute, H5T_NATIVE_INT64, values.data()) < 0)
    values.clear();
  H5Sclose(space);
  H5Aclose(attribute);
  return values;
}

} // namespace ossatura_test
