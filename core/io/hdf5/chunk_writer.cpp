// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/hdf5/chunk_writer.hpp>

#include <ossatura/core/io/hdf5/library_call.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include <fcntl.h>

namespace ossatura {

namespace {

/// Brought to disk at a time: some milliseconds of it.
constexpr std::uint64_t flushed_bytes = std::uint64_t(32) << 20;

std::size_t bytes_of(hid_t type) {
  const detail::LibraryCall call;
  return H5Tget_size(type);
}

/// The descriptor of the file of an object; -1 where the library reads and writes it otherwise.
int descriptor_of(hid_t object) {
  const Hdf5Handle file(H5Iget_file_id(object), &H5Fclose);
  const Hdf5Handle access(file ? H5Fget_access_plist(file.get()) : -1, &H5Pclose);
  void* handle = nullptr;
  if (!access || H5Pget_driver(access.get()) != H5FD_SEC2 ||
      H5Fget_vfd_handle(file.get(), access.get(), &handle) < 0 || handle == nullptr)
    return -1;
  return *static_cast<const int*>(handle);
}

/// Has the system bring to disk what of a file it still holds in memory. It does so while more is
/// made; the flush at the end, which files are committed with, would find all of it there.
void begin_to_flush(int descriptor) {
#if defined(__linux__)
  (void)::sync_file_range(descriptor, 0, 0,
                          SYNC_FILE_RANGE_WRITE); // whether it did, the flush will see
#else
  (void)descriptor;
#endif
}

} // namespace

std::unique_ptr<Hdf5ChunkWriter> Hdf5ChunkWriter::of(const std::shared_ptr<Hdf5Dataset>& dataset,
                                                     Hdf5PendingChunks* pending) {
  const detail::LibraryCall call;
  const std::vector<std::uint64_t>& shape = dataset->shape();
  const Hdf5Handle properties(H5Dget_create_plist(dataset->id()), &H5Pclose);
  std::vector<hsize_t> chunk(shape.size());
  if (shape.empty() || !properties || H5Pget_layout(properties.get()) != H5D_CHUNKED ||
      H5Pget_chunk(properties.get(), int(chunk.size()), chunk.data()) != int(chunk.size()) ||
      H5Pget_nfilters(properties.get()) != 2)
    return nullptr;
  unsigned flags = 0, value = 0;
  std::size_t values = 1;
  const auto is_filter = [&](unsigned place, H5Z_filter_t filter) {
    values = 1;
    return H5Pget_filter2(properties.get(), place, &flags, &values, &value, 0, nullptr, nullptr) ==
           filter;
  };
  if (!is_filter(0, H5Z_FILTER_SHUFFLE) || !is_filter(1, H5Z_FILTER_DEFLATE))
    return nullptr;

  Hdf5ChunkLayout layout{chunk[0], 1, dataset->value_bytes(), int(value)};
  for (std::size_t i = 1; i < shape.size(); ++i) {
    if (chunk[i] != shape[i])
      return nullptr;
    layout.row_values *= shape[i];
  }
  if (layout.value_bytes == 0)
    return nullptr;
  std::unique_ptr<Hdf5ChunkWriter> writer(new Hdf5ChunkWriter(dataset, layout));
  writer->pending_ = pending;
  return writer;
}

Hdf5ChunkWriter::Hdf5ChunkWriter(std::shared_ptr<Hdf5Dataset> dataset,
                                 const Hdf5ChunkLayout& layout)
    : dataset_(std::move(dataset))
    , type_(H5Dget_type(dataset_->id()), &H5Tclose)
    , num_rows_(dataset_->shape()[0])
    , maker_(layout, [this](const std::vector<unsigned char>& chunk) {
      write_chunk(chunk.data(), chunk.size());
    }) {}

bool Hdf5ChunkWriter::is_own_type(hid_t type) const {
  const detail::LibraryCall call;
  return H5Tequal(type, type_.get()) > 0;
}

void Hdf5ChunkWriter::claim(std::uint64_t rows) {
  OSSATURA_REQUIRE(rows <= num_rows_ - rows_taken_, dataset_->where()
                                                        << ": " << rows << " rows after "
                                                        << rows_taken_ << " of " << num_rows_);
  rows_taken_ += rows;
}

void Hdf5ChunkWriter::append(const void* values, std::uint64_t rows, hid_t type) {
  claim(rows);
  if (is_own_type(type)) {
    append_from(values, rows);
    return;
  }
  const auto* bytes = static_cast<const unsigned char*>(values);
  const std::uint64_t row_values = layout().row_values, value_bytes = layout().value_bytes;
  const std::size_t from_bytes = bytes_of(type);
  const std::uint64_t block = std::max<std::uint64_t>(1, (std::uint64_t(1) << 17) / row_values);
  std::vector<unsigned char> converted;
  for (std::uint64_t first = 0; first < rows; first += block) {
    const std::uint64_t now = std::min(block, rows - first);
    const std::size_t count = std::size_t(now * row_values);
    converted.resize(count * std::max(from_bytes, std::size_t(value_bytes)));
    std::memcpy(converted.data(), bytes + std::size_t(first * row_values) * from_bytes,
                count * from_bytes);
    {
      const detail::LibraryCall call;
      if (H5Tconvert(type, type_.get(), count, converted.data(), nullptr, H5P_DEFAULT) < 0)
        fail<InputError>(dataset_->where(), ": cannot be written", detail::reason());
    }
    append_from(static_cast<const void*>(converted.data()), now);
  }
}

void Hdf5ChunkWriter::append(const Hdf5ChunkMaker::MakeRows& make, std::uint64_t rows, hid_t type) {
  claim(rows);
  OSSATURA_REQUIRE(is_own_type(type), dataset_->where() << ": rows are made in another type");
  append_from(make, rows);
}

void Hdf5ChunkWriter::append(const Hdf5RowsBlock& block) {
  const std::uint64_t row_bytes = layout().row_bytes();
  const unsigned char* bytes = block.bytes.data();
  const auto append_rows = [&](std::uint64_t rows) {
    claim(rows);
    append_from(static_cast<const void*>(bytes), rows);
    bytes += rows * row_bytes;
  };
  append_rows(block.rows_before);
  if (!block.chunk_bytes.empty()) {
    maker_.make_whole();
    OSSATURA_REQUIRE(maker_.rows_held() == 0, dataset_->where() << ": chunks behind a part of one");
  }
  for (const std::uint64_t size : block.chunk_bytes) {
    claim(layout().rows);
    write_chunk(bytes, std::size_t(size));
    bytes += size;
  }
  append_rows(block.rows_behind);
}

void Hdf5ChunkWriter::append(const Hdf5KeptRows& rows) {
  const std::uint64_t of_chunk = layout().rows;
  OSSATURA_REQUIRE(rows.all && rows.chunks.size() == (num_rows_ + of_chunk - 1) / of_chunk,
                   dataset_->where() << ": " << rows.chunks.size() << " chunks were kept");
  claim(num_rows_);
  for (const std::vector<unsigned char>& chunk : rows.chunks)
    write_chunk(chunk.data(), chunk.size());
}

template<class Source>
void Hdf5ChunkWriter::append_from(const Source& source, std::uint64_t rows) {
  if (is_pending()) {
    maker_.hold(source, rows);
    if (maker_.rows_held() == num_rows_)
      pending_->add(dataset_, maker_.take_held(), std::size_t(layout().value_bytes),
                    layout().level);
    return;
  }
  maker_.append(source, rows);
  if (rows_written_ + maker_.rows_held() == num_rows_)
    maker_.finish();
}

void Hdf5ChunkWriter::write_chunk(const unsigned char* chunk, std::size_t bytes) {
  const detail::LibraryCall call;
  std::vector<hsize_t> offset(dataset_->shape().size(), 0);
  offset[0] = rows_written_;
  if (H5Dwrite_chunk(dataset_->id(), H5P_DEFAULT, 0, offset.data(), bytes, chunk) < 0)
    fail<InputError>(dataset_->where(), ": cannot be written", detail::reason());
  unflushed_bytes_ += bytes;
  if (unflushed_bytes_ >= flushed_bytes) {
    unflushed_bytes_ = 0;
    if (const int descriptor = descriptor_of(dataset_->id()); descriptor >= 0)
      begin_to_flush(descriptor);
  }
  rows_written_ = std::min(rows_written_ + layout().rows, num_rows_);
  if (kept_ != nullptr)
    kept_->chunks.emplace_back(chunk, chunk + bytes);
}

} // namespace ossatura
