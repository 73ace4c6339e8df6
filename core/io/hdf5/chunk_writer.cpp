// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/hdf5/chunk_writer.hpp>

#include <ossatura/core/io/hdf5/error_stack.hpp>
#include <ossatura/core/machine/processors.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>

#include <libdeflate.h>

namespace ossatura {

namespace {

/// More would wait for the one that writes, and each takes some MiB.
constexpr int max_threads = 32;

/// Byte b of all values, then byte b + 1 (HDF5 File Format Specification, "Shuffle").
template<std::size_t Size>
void shuffle(const unsigned char* from, std::size_t values, unsigned char* to) {
  for (std::size_t i = 0; i < values; ++i)
    for (std::size_t b = 0; b < Size; ++b)
      to[b * values + i] = from[i * Size + b];
}

void shuffle(const unsigned char* from, std::size_t values, std::size_t size, unsigned char* to) {
  switch (size) {
  case 1:
    std::copy(from, from + values, to);
    return;
  case 4:
    return shuffle<4>(from, values, to);
  case 8:
    return shuffle<8>(from, values, to);
  default:
    for (std::size_t b = 0; b < size; ++b)
      for (std::size_t i = 0; i < values; ++i)
        to[b * values + i] = from[i * size + b];
  }
}

void widen(const unsigned char* from, std::size_t count, unsigned char* to) {
  for (std::size_t i = 0; i < count; ++i) {
    std::int32_t value = 0;
    std::memcpy(&value, from + i * sizeof value, sizeof value);
    const std::int64_t wide = value;
    std::memcpy(to + i * sizeof wide, &wide, sizeof wide);
  }
}

/// What of a chunk is the same for all of a dataset.
struct ChunkFormat {
  std::size_t values, value_bytes; ///< in the file
  int level;
  std::size_t from_bytes; ///< of a value that comes
  Hdf5ChunkWriter::Convert convert;
};

/// Makes the bytes of a chunk as they lie in the file. One for each thread.
class ChunkFilter {
public:
  explicit ChunkFilter(const ChunkFormat& format)
      : format_(format)
      , compressor_(libdeflate_alloc_compressor(format.level), &libdeflate_free_compressor)
      , shuffled_(format.values * format.value_bytes) {
    if (!compressor_)
      throw std::bad_alloc();
    if (format.convert != nullptr)
      converted_.resize(shuffled_.size());
  }
  void make(const unsigned char* values, std::vector<unsigned char>& chunk) {
    if (format_.convert != nullptr) {
      format_.convert(values, format_.values, converted_.data());
      values = converted_.data();
    }
    shuffle(values, format_.values, format_.value_bytes, shuffled_.data());
    chunk.resize(libdeflate_zlib_compress_bound(compressor_.get(), shuffled_.size()));
    const std::size_t size = libdeflate_zlib_compress(compressor_.get(), shuffled_.data(),
                                                      shuffled_.size(), chunk.data(), chunk.size());
    OSSATURA_REQUIRE(size > 0, "libdeflate: a chunk of " << shuffled_.size() << " bytes");
    chunk.resize(size);
  }

private:
  ChunkFormat format_;
  std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor_;
  std::vector<unsigned char> converted_, shuffled_;
};

/// Makes `count` chunks by threads, of which the caller takes one after the other.
class FilterThreads {
public:
  FilterThreads(const unsigned char* bytes, std::size_t count, const ChunkFormat& format,
                int threads)
      : bytes_(bytes)
      , count_(count)
      , format_(format)
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
    std::optional<ChunkFilter> filter;
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
        if (!filter)
          filter.emplace(format_);
        filter->make(bytes_ + i * format_.values * format_.from_bytes, place.chunk);
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
  std::size_t count_;
  ChunkFormat format_;
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
  const bool widens =
      H5Tequal(type, H5T_NATIVE_INT32) > 0 && H5Tequal(type_.get(), H5T_NATIVE_INT64) > 0;
  if (widens && waiting_.empty()) { // whole chunks from where they are
    const std::uint64_t whole = rows / chunk_rows_;
    write_chunks(bytes, whole, from_bytes, &widen);
    rows -= whole * chunk_rows_;
    bytes += whole * chunk_rows_ * row_values_ * from_bytes;
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
      write_chunks(bytes, whole, value_bytes_, nullptr);
      bytes += whole * chunk;
      count -= whole * chunk;
      continue;
    }
    const std::size_t now = std::min(count, most - waiting_.size());
    waiting_.insert(waiting_.end(), bytes, bytes + now);
    bytes += now;
    count -= now;
    if (waiting_.size() == most) {
      write_chunks(waiting_.data(), most / chunk, value_bytes_, nullptr);
      waiting_.clear();
    }
  }
  if (rows_written_ * row_bytes() + waiting_.size() == num_rows_ * row_bytes() &&
      !waiting_.empty()) {
    waiting_.resize((waiting_.size() + chunk - 1) / chunk * chunk); // chunks at the end are whole
    write_chunks(waiting_.data(), waiting_.size() / chunk, value_bytes_, nullptr);
    waiting_ = {};
  }
}

void Hdf5ChunkWriter::write_chunks(const unsigned char* bytes, std::size_t count,
                                   std::size_t from_bytes, Convert convert) {
  const ChunkFormat format{std::size_t(chunk_rows_ * row_values_), value_bytes_, level_, from_bytes,
                           convert};
  const auto write = [this](const std::vector<unsigned char>& chunk) { write_chunk(chunk); };
  const int threads = int(std::min(std::size_t(std::min(io_threads(), max_threads)), count));
  std::size_t first = 0;
  if (threads > 1) {
    FilterThreads filters(bytes, count, format, threads);
    for (; filters.any() && first < count; ++first)
      filters.take(write);
  }
  if (first == count)
    return;
  ChunkFilter filter(format);
  std::vector<unsigned char> chunk;
  for (; first < count; ++first) {
    filter.make(bytes + first * format.values * from_bytes, chunk);
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
