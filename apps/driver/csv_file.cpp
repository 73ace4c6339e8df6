// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/csv_file.hpp"

#include "core/require.hpp"

namespace femura {

CsvFile::CsvFile(const std::string& path, const std::string& head)
    : file_(path)
    , stream_(file_.temporary_path()) {
  line(head);
}

void CsvFile::commit() {
  stream_.close();
  if (!stream_)
    fail<InputError>(file_.path(), ": cannot be written; is the disk full?");
  file_.commit();
}

} // namespace femura
