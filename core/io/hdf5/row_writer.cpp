// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/hdf5/row_writer.hpp>

#include <utility>

namespace ossatura {

Hdf5RowWriter::Hdf5RowWriter(Hdf5Dataset dataset, Hdf5PendingChunks* pending)
    : dataset_(std::make_shared<Hdf5Dataset>(std::move(dataset)))
    , chunks_(Hdf5ChunkWriter::of(dataset_, pending)) {
  for (std::size_t i = 1; i < dataset_->shape().size(); ++i)
    row_size_ *= dataset_->shape()[i];
}

} // namespace ossatura
