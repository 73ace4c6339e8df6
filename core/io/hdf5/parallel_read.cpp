// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/hdf5/parallel_read.hpp>

#include <ossatura/core/io/hdf5/library_call.hpp>
#include <ossatura/core/machine/part_loop.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include <fcntl.h>
#include <libdeflate.h>
#include <unistd.h>

namespace ossatura {

using detail::LibraryCall, detail::reason;

namespace {

using Extents = std::vector<std::uint64_t>;

[[noreturn]] void fail_damaged(const Hdf5Dataset& dataset, const std::string& why = {}) {
  fail<InputError>(dataset.where(), ": cannot be read: the file is damaged or truncated", why);
}

std::uint64_t entries_of(const Extents& extents) {
  std::uint64_t n = 1;
  for (const std::uint64_t extent : extents)
    n *= extent;
  return n;
}

/// How values lie in the file.
struct Storage {
  std::optional<std::uint64_t> plain; ///< the first byte of values without chunks
  Extents chunk;                      ///< of chunks, else empty
  bool shuffled = false, deflated = false;
};

/// The filters of chunks, in the order of writing; false where there are others.
bool read_filters(hid_t properties, Storage& storage) {
  const int count = H5Pget_nfilters(properties);
  for (int i = 0; i < count; ++i) {
    unsigned flags = 0, config = 0;
    std::size_t num_values = 0;
    const H5Z_filter_t filter =
        H5Pget_filter2(properties, unsigned(i), &flags, &num_values, nullptr, 0, nullptr, &config);
    if (filter == H5Z_FILTER_SHUFFLE && i == 0)
      storage.shuffled = true;
    else if (filter == H5Z_FILTER_DEFLATE && i + 1 == count)
      storage.deflated = true;
    else
      return false;
  }
  return true;
}

/// Nothing where the library has to read.
template<class T>
std::optional<Storage> find_storage(const Hdf5Dataset& dataset) {
  const LibraryCall call;
  const Hdf5Handle properties(H5Dget_create_plist(dataset.id()), &H5Pclose);
  const Hdf5Handle file(H5Iget_file_id(dataset.id()), &H5Fclose);
  unsigned intent = H5F_ACC_RDWR;
  if (!properties || !file || H5Fget_intent(file.get(), &intent) < 0 || intent != H5F_ACC_RDONLY ||
      dataset.shape().empty() || !dataset.holds<T>() ||
      H5Pget_external_count(properties.get()) != 0)
    return {};
  Storage storage;
  if (H5Pget_layout(properties.get()) == H5D_CONTIGUOUS) {
    const haddr_t place = H5Dget_offset(dataset.id());
    if (place == HADDR_UNDEF)
      return {};
    storage.plain = place;
    return storage;
  }
  unsigned unfiltered = 0; // chunks at the edge, without a word in their mask
  if (H5Pget_layout(properties.get()) != H5D_CHUNKED ||
      H5Pget_chunk_opts(properties.get(), &unfiltered) < 0 || unfiltered != 0 ||
      !read_filters(properties.get(), storage))
    return {};
  std::vector<hsize_t> chunk(dataset.shape().size());
  if (H5Pget_chunk(properties.get(), int(chunk.size()), chunk.data()) != int(chunk.size()))
    return {};
  storage.chunk.assign(chunk.begin(), chunk.end());
  return storage;
}

/// Reads `count` bytes at `place` of the file, by all threads.
void read_plain(const Hdf5Dataset& dataset, std::uint64_t place, char* to, std::size_t count) {
  const int file = ::open(dataset.file_name().c_str(), O_RDONLY | O_CLOEXEC);
  const auto close_file = [](const int* f) { ::close(*f); };
  const std::unique_ptr<const int, decltype(close_file)> closes(&file, close_file);
  if (file < 0)
    fail_damaged(dataset);
  for_parts(count, std::size_t(1) << 20, [&](std::size_t begin, std::size_t end) {
    while (begin < end) {
      const ssize_t got = ::pread(file, to + begin, end - begin, off_t(place + begin));
      if (got < 0 && errno == EINTR)
        continue;
      if (got <= 0)
        fail_damaged(dataset, ": it ends before");
      begin += std::size_t(got);
    }
  });
}

/// The chunks that rows touch, in the order of the file's grid of chunks.
class ChunkRange {
public:
  ChunkRange(const Extents& shape, const Extents& chunk, std::uint64_t first, std::uint64_t rows)
      : chunk_(chunk)
      , first_row_(first / chunk[0]) {
    counts_.push_back((first + rows + chunk[0] - 1) / chunk[0] - first_row_);
    for (std::size_t d = 1; d < shape.size(); ++d)
      counts_.push_back((shape[d] + chunk[d] - 1) / chunk[d]);
  }
  std::uint64_t size() const { return entries_of(counts_); }
  /// The first entry of chunk i.
  Extents origin(std::uint64_t i) const {
    Extents at(chunk_.size());
    for (std::size_t d = chunk_.size(); d-- > 0;) {
      at[d] = (i % counts_[d] + (d == 0 ? first_row_ : 0)) * chunk_[d];
      i /= counts_[d];
    }
    return at;
  }

private:
  Extents chunk_, counts_;
  std::uint64_t first_row_;
};

/// The stored bytes of a chunk; `skipped` are filters that were not used for it. False where it was
/// never written. In a LibraryCall.
bool read_stored(const Hdf5Dataset& dataset, const Extents& origin, std::uint64_t most_bytes,
                 std::vector<char>& bytes, std::uint32_t& skipped) {
  const std::vector<hsize_t> at(origin.begin(), origin.end());
  hsize_t size = 0;
  if (H5Dget_chunk_storage_size(dataset.id(), at.data(), &size) < 0 || size == 0)
    return false;
  if (size > most_bytes)
    fail_damaged(dataset);
  bytes.resize(size);
  if (H5Dread_chunk(dataset.id(), H5P_DEFAULT, at.data(), &skipped, bytes.data()) < 0)
    fail_damaged(dataset, reason());
  return true;
}

std::uint64_t size_of_file(const Hdf5Dataset& dataset) {
  const Hdf5Handle file(H5Iget_file_id(dataset.id()), &H5Fclose);
  hsize_t size = 0;
  if (!file || H5Fget_filesize(file.get(), &size) < 0)
    fail_damaged(dataset);
  return size;
}

/// The values of a chunk from its stored bytes.
template<class T>
class ChunkDecoder {
public:
  explicit ChunkDecoder(const Storage& storage)
      : storage_(storage)
      , inflated_(storage.deflated ? entries_of(storage.chunk) * sizeof(T) : 0)
      , values_(entries_of(storage.chunk)) {}

  /// Nothing where the bytes are damaged.
  const T* decode(const std::vector<char>& stored, std::uint32_t skipped) {
    const std::size_t bytes = values_.size() * sizeof(T);
    const unsigned deflate_bit = storage_.shuffled ? 2 : 1;
    const char* from = stored.data();
    if (storage_.deflated && !(skipped & deflate_bit)) {
      std::size_t got = 0;
      if (libdeflate_zlib_decompress(decompressor_.get(), stored.data(), stored.size(),
                                     inflated_.data(), bytes, &got) != LIBDEFLATE_SUCCESS ||
          got != bytes)
        return nullptr;
      from = inflated_.data();
    } else if (stored.size() != bytes) {
      return nullptr;
    }
    char* const to = reinterpret_cast<char*>(values_.data());
    if (storage_.shuffled && !(skipped & 1)) {
      const std::size_t n = values_.size();
      for (std::size_t b = 0; b < sizeof(T); ++b)
        for (std::size_t i = 0; i < n; ++i)
          to[sizeof(T) * i + b] = from[n * b + i];
    } else {
      std::memcpy(to, from, bytes);
    }
    return values_.data();
  }

private:
  struct Free {
    void operator()(libdeflate_decompressor* d) const { libdeflate_free_decompressor(d); }
  };
  const Storage& storage_;
  std::unique_ptr<libdeflate_decompressor, Free> decompressor_{libdeflate_alloc_decompressor()};
  std::vector<char> inflated_;
  std::vector<T> values_;
};

/// Copies what a chunk has of rows [first, ...) to `to`, row by row of its last extent.
template<class T>
void copy_chunk(const Extents& shape, const Extents& chunk, const Extents& origin,
                std::uint64_t first, std::uint64_t rows, const T* values, T* to) {
  const std::size_t rank = shape.size(), last = rank - 1;
  Extents begin(rank, 0), end(rank);
  for (std::size_t d = 0; d < rank; ++d)
    end[d] = std::min(chunk[d], shape[d] - origin[d]);
  begin[0] = std::max<std::uint64_t>(first, origin[0]) - origin[0];
  end[0] = std::min(end[0], first + rows - origin[0]);
  Extents at = begin;
  const std::uint64_t run = end[last] - begin[last];
  while (at[0] < end[0]) {
    std::uint64_t source = 0, target = 0;
    for (std::size_t d = 0; d < rank; ++d) {
      source = source * chunk[d] + at[d];
      target = target * shape[d] + origin[d] + at[d] - (d == 0 ? first : 0);
    }
    std::memcpy(to + target, values + source, run * sizeof(T));
    std::size_t d = last; // the next row: the last extent is done
    do {
      if (d == 0)
        return;
      at[d] = begin[d];
      --d;
    } while (++at[d] == end[d] && d > 0);
  }
}

struct StoredChunk {
  Extents origin;
  std::vector<char> bytes;
  std::uint32_t skipped = 0;
};

/// False where a chunk was never written: the library knows what such have.
template<class T>
bool read_chunks(const Hdf5Dataset& dataset, const Storage& storage, std::uint64_t first,
                 std::uint64_t rows, T* to) {
  constexpr std::uint64_t batch = 64;
  const ChunkRange range(dataset.shape(), storage.chunk, first, rows);
  std::vector<StoredChunk> chunks;
  for (std::uint64_t begin = 0; begin < range.size(); begin += batch) {
    chunks.resize(std::min(batch, range.size() - begin));
    {
      const LibraryCall call;
      const std::uint64_t most = size_of_file(dataset);
      for (std::size_t i = 0; i < chunks.size(); ++i) {
        chunks[i].origin = range.origin(begin + i);
        if (!read_stored(dataset, chunks[i].origin, most, chunks[i].bytes, chunks[i].skipped))
          return false;
      }
    }
    for_parts(chunks.size(), 1, [&](std::size_t part_begin, std::size_t part_end) {
      ChunkDecoder<T> decoder(storage);
      for (std::size_t i = part_begin; i < part_end; ++i) {
        const T* const values = decoder.decode(chunks[i].bytes, chunks[i].skipped);
        if (values == nullptr)
          fail_damaged(dataset, ": a chunk does not inflate");
        copy_chunk(dataset.shape(), storage.chunk, chunks[i].origin, first, rows, values, to);
      }
    });
  }
  return true;
}

} // namespace

template<class T>
std::vector<T> read_rows_by_threads(const Hdf5Dataset& dataset, std::uint64_t first,
                                    std::uint64_t rows) {
  std::vector<T> values = dataset.make_rows<T>(first, rows);
  const std::optional<Storage> storage = find_storage<T>(dataset);
  if (values.empty())
    return values;
  if (storage && storage->plain) {
    const std::uint64_t row = values.size() / rows * sizeof(T);
    read_plain(dataset, *storage->plain + first * row, reinterpret_cast<char*>(values.data()),
               values.size() * sizeof(T));
    return values;
  }
  if (storage && read_chunks(dataset, *storage, first, rows, values.data()))
    return values;
  values = {}; // not twice in memory
  return dataset.read_rows<T>(first, rows);
}

template<class T>
void try_rows_by_threads(const Hdf5Dataset& dataset, std::uint64_t first, std::uint64_t rows) {
  dataset.make_rows<T>(first, 0); // for its checks
  if (rows == 0)
    return;
  const std::optional<Storage> storage = find_storage<T>(dataset);
  if (storage && storage->plain)
    return;
  if (storage) {
    const ChunkRange range(dataset.shape(), storage->chunk, first, rows);
    const LibraryCall call;
    const std::uint64_t most = size_of_file(dataset);
    StoredChunk chunk;
    bool all = true;
    for (std::uint64_t i = 0; all && i < range.size(); ++i)
      all = read_stored(dataset, range.origin(i), most, chunk.bytes, chunk.skipped);
    if (all)
      return;
  }
  dataset.read_rows<T>(first, rows);
}

#define OSSATURA_INSTANTIATE(T)                                                                    \
  template std::vector<T> read_rows_by_threads(const Hdf5Dataset&, std::uint64_t, std::uint64_t);  \
  template void try_rows_by_threads<T>(const Hdf5Dataset&, std::uint64_t, std::uint64_t);
OSSATURA_INSTANTIATE(float)
OSSATURA_INSTANTIATE(double)
OSSATURA_INSTANTIATE(std::uint8_t)
OSSATURA_INSTANTIATE(std::int32_t)
OSSATURA_INSTANTIATE(std::int64_t)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
