// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/hdf5/chunk_writer.hpp>

#include <ossatura/core/io/hdf5/error_stack.hpp>
#include <ossatura/core/machine/processors.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include <zlib.h>

namespace ossatura {

namespace {

/// More would wait for the one that writes, and each takes some MiB.
constexpr int max_threads = 32;

/// Byte b of all values, then byte b + 1 (HDF5 File Format Specification, "Shuffle").
void shuffle(const unsigned char* from, std::size_t count, std::size_t size, unsigned char* to) {
  const std::size_t values = count / size;
  for (std::size_t b = 0; b < size; ++b)
    for (std::size_t i = 0; i < values; ++i)
      to[b * values + i] = from[i * size + b];
}

/// The bytes of a chunk as they lie in the file.
void filter(const unsigned char* bytes, std::size_t count, std::size_t value_bytes, int level,
            std::vector<unsigned char>& shuffled, std::vector<unsigned char>& chunk) {
  shuffled.resize(count);
  shuffle(bytes, count, value_bytes, shuffled.data());
  uLongf size = compressBound(uLong(count));
  chunk.resize(size);
  const int result = compress2(chunk.data(), &size, shuffled.data(), uLong(count), level);
  OSSATURA_REQUIRE(result == Z_OK, "zlib: " << zError(result));
  chunk.resize(size);
}

/// Makes `count` chunks by threads, of which the caller takes one after the other.
class FilterThreads {
public:
  FilterThreads(const unsigned char* bytes, std::size_t count, std::size_t chunk_bytes,
                std::size_t value_bytes, int level, int threads)
      : bytes_(bytes)
      , count_(count)
      , chunk_bytes_(chunk_bytes)
      , value_bytes_(value_bytes)
      , level_(level)
      , places_(2 * std::size_t(threads)) {
    threads_.reserve(std::size_t(threads));
    try {
      for (int t = 0; t < threads; ++t)
        threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) { // those that there are
    }
  }
  ~FilterThreads() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      next_ = count_;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_)
      thread.join();
  }
  FilterThreads(const FilterThreads&) = delete;
  FilterThreads& operator=(const FilterThreads&) = delete;

  bool any() const { return !threads_.empty(); }

  /// Calls `write` with the chunk that follows.
  template<class Write>
  void take(const Write& write) {
    Place& place = places_[taken_ % places_.size()];
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [&] { return place.full || error_ != nullptr; });
      if (error_ != nullptr)
        std::rethrow_exception(error_);
    }
    write(place.chunk);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      place.full = false;
      ++taken_;
    }
    changed_.notify_all();
  }

private:
  struct Place {
    std::vector<unsigned char> chunk;
    bool full = false;
  };

  void work() {
    std::vector<unsigned char> shuffled;
    for (;;) {
      std::size_t i = 0;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [&] { return next_ >= count_ || next_ < taken_ + places_.size(); });
        if (next_ >= count_)
          return;
        i = next_++;
      }
      Place& place = places_[i % places_.size()];
      try {
        filter(bytes_ + i * chunk_bytes_, chunk_bytes_, value_bytes_, level_, shuffled,
               place.chunk);
      } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex_);
        error_ = std::current_exception();
      }
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        place.full = true;
      }
      changed_.notify_all();
    }
  }

  const unsigned char* bytes_;
  std::size_t count_, chunk_bytes_, value_bytes_;
  int level_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Place> places_;
  std::size_t next_ = 0, taken_ = 0;
  std::exception_ptr error_;
  std::vector<std::thread> threads_; // last: they use the others
};

} // namespace

std::unique_ptr<Hdf5ChunkWriter> Hdf5ChunkWriter::of(std::shared_ptr<Hdf5Dataset> dataset) {
  const detail::Silence silence;
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

  std::unique_ptr<Hdf5ChunkWriter> writer(new Hdf5ChunkWriter(dataset));
  writer->level_ = int(value);
  writer->num_rows_ = shape[0];
  writer->chunk_rows_ = chunk[0];
  for (std::size_t i = 1; i < shape.size(); ++i) {
    if (chunk[i] != shape[i])
      return nullptr;
    writer->row_values_ *= shape[i];
  }
  writer->type_ = Hdf5Handle(H5Dget_type(dataset->id()), &H5Tclose);
  writer->value_bytes_ = H5Tget_size(writer->type_.get());
  if (writer->value_bytes_ == 0)
    return nullptr;
  return writer;
}

void Hdf5ChunkWriter::append(const void* values, std::uint64_t rows, hid_t type) {
  OSSATURA_REQUIRE(rows <= num_rows_ - rows_taken_, dataset_->where()
                                                        << ": " << rows << " rows after "
                                                        << rows_taken_ << " of " << num_rows_);
  rows_taken_ += rows;
  const auto* bytes = static_cast<const unsigned char*>(values);
  const std::size_t from_bytes = H5Tget_size(type);
  if (H5Tequal(type, type_.get()) > 0) {
    append_bytes(bytes, std::size_t(rows) * row_bytes());
    return;
  }
  constexpr std::size_t block = std::size_t(1) << 17;
  std::vector<unsigned char> converted(block * std::max(from_bytes, value_bytes_));
  for (std::size_t left = std::size_t(rows * row_values_); left > 0;) {
    const std::size_t now = std::min(left, block);
    std::memcpy(converted.data(), bytes, now * from_bytes);
    const detail::Silence silence;
    if (H5Tconvert(type, type_.get(), now, converted.data(), nullptr, H5P_DEFAULT) < 0)
      fail<InputError>(dataset_->where(), ": cannot be written", detail::reason());
    append_bytes(converted.data(), now * value_bytes_);
    bytes += now * from_bytes;
    left -= now;
  }
}

void Hdf5ChunkWriter::append_bytes(const unsigned char* bytes, std::size_t count) {
  const std::size_t chunk = chunk_bytes();
  const int threads = std::min(io_threads(), max_threads);
  const std::size_t most = threads == 1 ? chunk : 2 * std::size_t(threads) * chunk;
  while (count > 0) {
    if (waiting_.empty() && count >= chunk) { // from where they are
      const std::size_t whole = count / chunk;
      write_chunks(bytes, whole);
      bytes += whole * chunk;
      count -= whole * chunk;
      continue;
    }
    const std::size_t now = std::min(count, most - waiting_.size());
    waiting_.insert(waiting_.end(), bytes, bytes + now);
    bytes += now;
    count -= now;
    if (waiting_.size() == most) {
      write_chunks(waiting_.data(), most / chunk);
      waiting_.clear();
    }
  }
  if (rows_written_ * row_bytes() + waiting_.size() == num_rows_ * row_bytes() &&
      !waiting_.empty()) {
    waiting_.resize((waiting_.size() + chunk - 1) / chunk * chunk); // chunks at the end are whole
    write_chunks(waiting_.data(), waiting_.size() / chunk);
    waiting_ = {};
  }
}

void Hdf5ChunkWriter::write_chunks(const unsigned char* bytes, std::size_t count) {
  const auto write = [this](const std::vector<unsigned char>& chunk) { write_chunk(chunk); };
  const int threads = int(std::min(std::size_t(std::min(io_threads(), max_threads)), count));
  std::size_t first = 0;
  if (threads > 1) {
    FilterThreads filters(bytes, count, chunk_bytes(), value_bytes_, level_, threads);
    for (; filters.any() && first < count; ++first)
      filters.take(write);
  }
  std::vector<unsigned char> shuffled, chunk;
  for (; first < count; ++first) {
    filter(bytes + first * chunk_bytes(), chunk_bytes(), value_bytes_, level_, shuffled, chunk);
    write(chunk);
  }
}

void Hdf5ChunkWriter::write_chunk(const std::vector<unsigned char>& chunk) {
  const detail::Silence silence;
  std::vector<hsize_t> offset(dataset_->shape().size(), 0);
  offset[0] = rows_written_;
  if (H5Dwrite_chunk(dataset_->id(), H5P_DEFAULT, 0, offset.data(), chunk.size(), chunk.data()) < 0)
    fail<InputError>(dataset_->where(), ": cannot be written", detail::reason());
  rows_written_ = std::min(rows_written_ + chunk_rows_, num_rows_);
}

} // namespace ossatura
