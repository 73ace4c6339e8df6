// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/hdf5/field.hpp>

namespace ossatura {

Hdf5Field::Hdf5Field(Hdf5Dataset dataset, std::shared_ptr<Hdf5FieldFile> file)
    : file_(std::move(file))
    , rows_(std::move(dataset), &file_->pending) {}

void Hdf5Field::append(const Hdf5FieldBlock& block) {
  rows_.append(block.rows);
  if (!block.all_finite && std::exchange(file_->all_finite, false))
    warn_not_finite(rows_.dataset().where());
}

std::uint64_t Hdf5Field::rows_in(std::size_t count) const {
  const std::uint64_t row_size = rows_.row_size();
  OSSATURA_REQUIRE(count % row_size == 0, rows_.dataset().where()
                                              << ": " << count << " values are not whole rows of "
                                              << row_size);
  return count / row_size;
}

} // namespace ossatura
