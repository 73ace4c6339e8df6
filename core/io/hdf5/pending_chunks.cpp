// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/hdf5/pending_chunks.hpp>

#include <ossatura/core/io/hdf5/library_call.hpp>
#include <ossatura/core/io/hdf5/plane_compressor.hpp>
#include <ossatura/core/machine/processor_binding.hpp>
#include <ossatura/core/machine/processors.hpp>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include <sys/resource.h>

namespace ossatura {

namespace {

/// Fewer bytes are compressed sooner than a thread has started.
constexpr std::size_t worth_a_thread = std::size_t(16) << 10;

/// The stack of a thread, 8 MiB as a rule, counts as memory: where a control group leaves little,
/// and the process keeps within it (apps/driver/process_start.hpp), it would be missed elsewhere.
bool has_room_for_stacks() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
         limit.rlim_cur >= rlim_t(1) << 30;
}

} // namespace

void Hdf5PendingChunks::add(std::shared_ptr<Hdf5Dataset> dataset, std::vector<unsigned char> values,
                            std::size_t value_bytes, int level) {
  // As many as there are processors beside the one that writes, which makes the rest.
  const bool on_thread = values.size() >= worth_a_thread && num_under_way() < io_threads() - 1 &&
                         has_room_for_stacks();
  const auto own = std::make_shared<const std::vector<unsigned char>>(std::move(values));
  const auto compress = [on_thread, own, value_bytes, level] {
    if (on_thread)
      unbind_thread();
    std::vector<unsigned char> chunk;
    PlaneCompressor(level).compress(own->data(), own->size() / value_bytes, value_bytes, chunk);
    return chunk;
  };
  Chunk chunk{std::move(dataset), {}};
  try {
    chunk.bytes = std::async(on_thread ? std::launch::async : std::launch::deferred, compress);
  } catch (const std::system_error&) { // no more threads: by the one that writes
    chunk.bytes = std::async(std::launch::deferred, compress);
  }
  chunks_.push_back(std::move(chunk));
}

int Hdf5PendingChunks::num_under_way() const {
  return int(std::count_if(chunks_.begin(), chunks_.end(), [](const Chunk& chunk) {
    return chunk.bytes.wait_for(std::chrono::seconds(0)) == std::future_status::timeout;
  }));
}

void Hdf5PendingChunks::write() {
  std::vector<Chunk> chunks = std::exchange(chunks_, {});
  for (Chunk& chunk : chunks) {
    const std::vector<unsigned char> bytes = chunk.bytes.get();
    const detail::LibraryCall call;
    const std::vector<hsize_t> offset(chunk.dataset->shape().size(), 0);
    if (H5Dwrite_chunk(chunk.dataset->id(), H5P_DEFAULT, 0, offset.data(), bytes.size(),
                       bytes.data()) < 0)
      fail<InputError>(chunk.dataset->where(), ": cannot be written", detail::reason());
  }
}

} // namespace ossatura
