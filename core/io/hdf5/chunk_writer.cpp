// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/hdf5/chunk_writer.hpp>

#include <ossatura/core/io/hdf5/library_call.hpp>
#include <ossatura/core/io/hdf5/plane_compressor.hpp>
#include <ossatura/core/machine/processor_binding.hpp>
#include <ossatura/core/machine/processors.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <thread>

#include <fcntl.h>

namespace ossatura {

namespace {

/// More would wait for the one that writes, and each takes some MiB.
constexpr int max_threads = 32;

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

/// Makes the bytes of chunks as they lie in the file. One for each thread.
class Hdf5ChunkWriter::Filter {
public:
  explicit Filter(const Hdf5ChunkWriter& writer)
      : writer_(writer)
      , compressor_(writer.level_) {}
  /// The chunk of the rows of `source` from `first` on.
  void make(const Source& source, std::uint64_t first, std::vector<unsigned char>& chunk) {
    const std::size_t rows = std::size_t(writer_.chunk_rows_), row_bytes = writer_.row_bytes();
    const unsigned char* values = source.bytes + std::size_t(first) * row_bytes;
    if (source.make != nullptr) {
      made_.resize(rows * row_bytes);
      (*source.make)(first, rows, made_.data());
      values = made_.data();
    }
    compressor_.compress(values, rows * std::size_t(writer_.row_values_), writer_.value_bytes_,
                         chunk);
  }

private:
  const Hdf5ChunkWriter& writer_;
  PlaneCompressor compressor_;
  std::vector<unsigned char> made_;
};

/// Makes `count` chunks by threads, of which the caller takes one after the other.
class Hdf5ChunkWriter::FilterThreads {
public:
  FilterThreads(const Hdf5ChunkWriter& writer, const Source& source, std::uint64_t first,
                std::size_t count, int threads)
      : writer_(writer)
      , source_(source)
      , first_(first)
      , count_(count)
      , places_(2 * std::size_t(threads)) {
    threads_.reserve(std::size_t(threads));
    try {
      for (int t = 0; t < threads; ++t)
        threads_.emplace_back([this] { work(); });
    } catch (const std::exception&) { // no more threads, or no memory: those that there are
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
    unbind_thread();
    std::optional<Filter> filter;
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
          filter.emplace(writer_);
        filter->make(source_, first_ + i * writer_.chunk_rows_, place.chunk);
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

  const Hdf5ChunkWriter& writer_;
  Source source_;
  std::uint64_t first_;
  std::size_t count_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Place> places_;
  std::size_t next_ = 0, taken_ = 0;
  std::exception_ptr error_;
  std::vector<std::thread> threads_; // last: they use the others
};

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

  std::unique_ptr<Hdf5ChunkWriter> writer(new Hdf5ChunkWriter(dataset));
  writer->pending_ = pending;
  writer->level_ = int(value);
  writer->num_rows_ = shape[0];
  writer->chunk_rows_ = chunk[0];
  for (std::size_t i = 1; i < shape.size(); ++i) {
    if (chunk[i] != shape[i])
      return nullptr;
    writer->row_values_ *= shape[i];
  }
  writer->type_ = Hdf5Handle(H5Dget_type(dataset->id()), &H5Tclose);
  writer->value_bytes_ = dataset->value_bytes();
  if (writer->value_bytes_ == 0)
    return nullptr;
  return writer;
}

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
  const auto* bytes = static_cast<const unsigned char*>(values);
  if (is_own_type(type)) {
    append_from({bytes, nullptr}, rows);
    return;
  }
  const std::size_t from_bytes = bytes_of(type);
  const std::uint64_t block = std::max<std::uint64_t>(1, (std::uint64_t(1) << 17) / row_values_);
  std::vector<unsigned char> converted;
  for (std::uint64_t first = 0; first < rows; first += block) {
    const std::uint64_t now = std::min(block, rows - first);
    const std::size_t count = std::size_t(now * row_values_);
    converted.resize(count * std::max(from_bytes, value_bytes_));
    std::memcpy(converted.data(), bytes + std::size_t(first * row_values_) * from_bytes,
                count * from_bytes);
    {
      const detail::LibraryCall call;
      if (H5Tconvert(type, type_.get(), count, converted.data(), nullptr, H5P_DEFAULT) < 0)
        fail<InputError>(dataset_->where(), ": cannot be written", detail::reason());
    }
    append_from({converted.data(), nullptr}, now);
  }
}

void Hdf5ChunkWriter::append(const MakeRows& make, std::uint64_t rows, hid_t type) {
  claim(rows);
  OSSATURA_REQUIRE(is_own_type(type), dataset_->where() << ": rows are made in another type");
  append_from({nullptr, &make}, rows);
}

void Hdf5ChunkWriter::append(const Hdf5KeptRows& rows) {
  OSSATURA_REQUIRE(rows.all && rows.chunks.size() == (num_rows_ + chunk_rows_ - 1) / chunk_rows_,
                   dataset_->where() << ": " << rows.chunks.size() << " chunks were kept");
  claim(num_rows_);
  for (const std::vector<unsigned char>& chunk : rows.chunks)
    write_chunk(chunk);
}

void Hdf5ChunkWriter::append_from(const Source& source, std::uint64_t rows) {
  const auto wait_for = [&](std::uint64_t first, std::uint64_t count) {
    if (count == 0)
      return;
    const std::size_t before = waiting_.size();
    waiting_.resize(before + std::size_t(count) * row_bytes());
    if (source.make != nullptr)
      (*source.make)(first, count, waiting_.data() + before);
    else
      std::memcpy(waiting_.data() + before, source.bytes + std::size_t(first) * row_bytes(),
                  std::size_t(count) * row_bytes());
  };
  if (is_pending()) {
    wait_for(0, rows);
    if (waiting_.size() == std::size_t(num_rows_) * row_bytes())
      pending_->add(dataset_, std::move(waiting_), value_bytes_, level_);
    return;
  }
  const int threads = std::min(io_threads(), max_threads);
  const std::uint64_t most = threads == 1 ? chunk_rows_ : 2 * std::uint64_t(threads) * chunk_rows_;
  for (std::uint64_t done = 0; done < rows;) {
    const std::uint64_t left = rows - done, waiting = waiting_.size() / row_bytes();
    const std::uint64_t missing = (chunk_rows_ - waiting % chunk_rows_) % chunk_rows_;
    if (left >= missing + chunk_rows_) { // whole chunks from where they are
      wait_for(done, missing);
      write_waiting();
      done += missing;
      const std::uint64_t chunks = (rows - done) / chunk_rows_;
      write_chunks(source, done, std::size_t(chunks));
      done += chunks * chunk_rows_;
      continue;
    }
    const std::uint64_t now = std::min(left, most - waiting);
    wait_for(done, now);
    done += now;
    if (waiting_.size() == std::size_t(most) * row_bytes())
      write_waiting();
  }
  if (rows_written_ * row_bytes() + waiting_.size() == num_rows_ * row_bytes()) {
    const std::size_t chunk = std::size_t(chunk_rows_) * row_bytes();
    waiting_.resize((waiting_.size() + chunk - 1) / chunk * chunk); // chunks at the end are whole
    write_waiting();
    waiting_ = {};
  }
}

void Hdf5ChunkWriter::write_waiting() {
  const std::size_t chunk = std::size_t(chunk_rows_) * row_bytes();
  write_chunks({waiting_.data(), nullptr}, 0, waiting_.size() / chunk);
  waiting_.clear();
}

void Hdf5ChunkWriter::write_chunks(const Source& source, std::uint64_t first, std::size_t count) {
  if (count == 0)
    return;
  const auto write = [this](const std::vector<unsigned char>& chunk) { write_chunk(chunk); };
  const int threads = int(std::min(std::size_t(std::min(io_threads(), max_threads)), count));
  std::size_t done = 0;
  if (threads > 1) {
    FilterThreads filters(*this, source, first, count, threads);
    for (; filters.any() && done < count; ++done)
      filters.take(write);
  }
  if (done == count)
    return;
  Filter filter(*this);
  std::vector<unsigned char> chunk;
  for (; done < count; ++done) {
    filter.make(source, first + done * chunk_rows_, chunk);
    write(chunk);
  }
}

void Hdf5ChunkWriter::write_chunk(const std::vector<unsigned char>& chunk) {
  const detail::LibraryCall call;
  std::vector<hsize_t> offset(dataset_->shape().size(), 0);
  offset[0] = rows_written_;
  if (H5Dwrite_chunk(dataset_->id(), H5P_DEFAULT, 0, offset.data(), chunk.size(), chunk.data()) < 0)
    fail<InputError>(dataset_->where(), ": cannot be written", detail::reason());
  unflushed_bytes_ += chunk.size();
  if (unflushed_bytes_ >= flushed_bytes) {
    unflushed_bytes_ = 0;
    if (const int descriptor = descriptor_of(dataset_->id()); descriptor >= 0)
      begin_to_flush(descriptor);
  }
  rows_written_ = std::min(rows_written_ + chunk_rows_, num_rows_);
  if (kept_ != nullptr)
    kept_->chunks.push_back(chunk);
}

} // namespace ossatura
