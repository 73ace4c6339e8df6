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

Hdf5ChunkLayout Hdf5RowWriter::layout() const {
  if (chunks_ && !chunks_->is_pending())
    return chunks_->layout();
  return {0, row_size_, dataset_->value_bytes(), 0};
}

void Hdf5RowWriter::append(const Hdf5RowsBlock& block) {
  if (chunks_)
    chunks_->append(block);
  else
    dataset_->write_own_rows(written_, block.rows_before, block.bytes.data());
  written_ += block.rows_before + block.chunk_bytes.size() * layout().rows + block.rows_behind;
}

} // namespace ossatura
