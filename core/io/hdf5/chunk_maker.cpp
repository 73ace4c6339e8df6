// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/hdf5/chunk_maker.hpp>

#include <ossatura/core/io/hdf5/plane_compressor.hpp>
#include <ossatura/core/machine/processor_binding.hpp>
#include <ossatura/core/machine/processors.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace ossatura {

namespace {

/// More would wait for the one that takes the chunks, and each needs some MiB.
constexpr int max_threads = 32;

} // namespace

/// Makes the bytes of chunks as they lie in the file. One for each thread.
class Hdf5ChunkMaker::Filter {
public:
  explicit Filter(const Hdf5ChunkLayout& layout)
      : layout_(layout)
      , compressor_(layout.level) {}
  /// The chunk of the rows of `source` from `first` on.
  void make(const Source& source, std::uint64_t first, std::vector<unsigned char>& chunk) {
    const std::size_t rows = std::size_t(layout_.rows), row_bytes = layout_.row_bytes();
    const unsigned char* values = source.bytes + std::size_t(first) * row_bytes;
    if (source.make != nullptr) {
      made_.resize(rows * row_bytes);
      (*source.make)(first, rows, made_.data());
      values = made_.data();
    }
    compressor_.compress(values, rows * std::size_t(layout_.row_values), layout_.value_bytes,
                         chunk);
  }

private:
  const Hdf5ChunkLayout& layout_;
  PlaneCompressor compressor_;
  std::vector<unsigned char> made_;
};

/// Makes `count` chunks by threads, of which the caller takes one after the other.
class Hdf5ChunkMaker::FilterThreads {
public:
  FilterThreads(const Hdf5ChunkLayout& layout, const Source& source, std::uint64_t first,
                std::size_t count, int threads)
      : layout_(layout)
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

  /// Calls `take` with the chunk that follows.
  void take_next(const Take& take) {
    Place& place = places_[taken_ % places_.size()];
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [&] { return place.full || error_ != nullptr; });
      if (error_ != nullptr)
        std::rethrow_exception(error_);
    }
    take(place.chunk);
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
          filter.emplace(layout_);
        filter->make(source_, first_ + i * layout_.rows, place.chunk);
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

  const Hdf5ChunkLayout& layout_;
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

void Hdf5ChunkMaker::append(const void* values, std::uint64_t rows) {
  append_from({static_cast<const unsigned char*>(values), nullptr}, rows);
}

void Hdf5ChunkMaker::append(const MakeRows& make, std::uint64_t rows) {
  append_from({nullptr, &make}, rows);
}

void Hdf5ChunkMaker::hold(const void* values, std::uint64_t rows) {
  hold_from({static_cast<const unsigned char*>(values), nullptr}, 0, rows);
}

void Hdf5ChunkMaker::hold(const MakeRows& make, std::uint64_t rows) {
  hold_from({nullptr, &make}, 0, rows);
}

std::vector<unsigned char> Hdf5ChunkMaker::take_held() {
  return std::exchange(held_, {});
}

void Hdf5ChunkMaker::hold_from(const Source& source, std::uint64_t first, std::uint64_t rows) {
  if (rows == 0)
    return;
  const std::size_t before = held_.size(), row_bytes = layout_.row_bytes();
  held_.resize(before + std::size_t(rows) * row_bytes);
  if (source.make != nullptr)
    (*source.make)(first, rows, held_.data() + before);
  else
    std::memcpy(held_.data() + before, source.bytes + std::size_t(first) * row_bytes,
                std::size_t(rows) * row_bytes);
}

void Hdf5ChunkMaker::append_from(const Source& source, std::uint64_t rows) {
  const int threads = std::min(io_threads(), max_threads);
  const std::uint64_t most =
      threads == 1 ? layout_.rows : 2 * std::uint64_t(threads) * layout_.rows;
  for (std::uint64_t done = 0; done < rows;) {
    const std::uint64_t left = rows - done, held = rows_held();
    const std::uint64_t missing = (layout_.rows - held % layout_.rows) % layout_.rows;
    if (left >= missing + layout_.rows) { // whole chunks from where they are
      hold_from(source, done, missing);
      make_held();
      done += missing;
      const std::uint64_t chunks = (rows - done) / layout_.rows;
      make_chunks(source, done, std::size_t(chunks));
      done += chunks * layout_.rows;
      continue;
    }
    const std::uint64_t now = std::min(left, most - held);
    hold_from(source, done, now);
    done += now;
    if (rows_held() == most)
      make_held();
  }
}

void Hdf5ChunkMaker::make_whole() {
  const std::uint64_t chunks = rows_held() / layout_.rows;
  make_chunks({held_.data(), nullptr}, 0, std::size_t(chunks));
  held_.erase(held_.begin(),
              held_.begin() + std::ptrdiff_t(chunks * layout_.rows * layout_.row_bytes()));
}

void Hdf5ChunkMaker::finish() {
  const std::size_t chunk = std::size_t(layout_.rows) * layout_.row_bytes();
  held_.resize((held_.size() + chunk - 1) / chunk * chunk); // chunks at the end are whole
  make_held();
  held_ = {};
}

void Hdf5ChunkMaker::make_held() {
  make_chunks({held_.data(), nullptr}, 0, std::size_t(rows_held() / layout_.rows));
  held_.clear();
}

void Hdf5ChunkMaker::make_chunks(const Source& source, std::uint64_t first, std::size_t count) {
  if (count == 0)
    return;
  const int threads = int(std::min(std::size_t(std::min(io_threads(), max_threads)), count));
  std::size_t done = 0;
  if (threads > 1) {
    FilterThreads filters(layout_, source, first, count, threads);
    for (; filters.any() && done < count; ++done)
      filters.take_next(take_);
  }
  if (done == count)
    return;
  Filter filter(layout_);
  std::vector<unsigned char> chunk;
  for (; done < count; ++done) {
    filter.make(source, first + done * layout_.rows, chunk);
    take_(chunk);
  }
}

} // namespace ossatura
