// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/comm/device_comm.hpp>

#include <ossatura/core/comm/nccl.hpp>
#include <ossatura/core/comm/together.hpp>

#include <array>
#include <cstdlib>
#include <cstring>
#include <future>
#include <utility>

namespace ossatura {

namespace {

/// What the host sends and receives of two arrays, by rank.
struct HostMessages {
  std::vector<const void*> to;
  std::vector<void*> from;
  std::vector<std::size_t> to_bytes, from_bytes;

  explicit HostMessages(int ranks)
      : to(std::size_t(ranks))
      , from(std::size_t(ranks))
      , to_bytes(std::size_t(ranks))
      , from_bytes(std::size_t(ranks)) {}

  void send(int rank, const char* data, std::size_t bytes) {
    OSSATURA_REQUIRE(to_bytes.at(std::size_t(rank)) == 0, "two messages to rank " << rank);
    to[std::size_t(rank)] = data;
    to_bytes[std::size_t(rank)] = bytes;
  }
  void receive(int rank, char* data, std::size_t bytes) {
    OSSATURA_REQUIRE(from_bytes.at(std::size_t(rank)) == 0, "two messages from rank " << rank);
    from[std::size_t(rank)] = data;
    from_bytes[std::size_t(rank)] = bytes;
  }
};

#if defined(KOKKOS_ENABLE_CUDA)
std::size_t total_bytes(const std::vector<RankMessage>& messages, std::size_t item) {
  std::size_t total = 0;
  for (const RankMessage& message : messages)
    total += std::size_t(message.count) * item;
  return total;
}

void require_cuda(cudaError_t result, const char* what) {
  if (result != cudaSuccess)
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(result));
}

/// Whether no two ranks have the same device.
bool have_devices_of_their_own(const Communicator& comm) {
  int device = 0;
  cudaDeviceProp properties{};
  require_cuda(cudaGetDevice(&device), "cudaGetDevice");
  require_cuda(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  std::array<char, 16> id{};
  static_assert(sizeof properties.uuid.bytes == sizeof id);
  std::memcpy(id.data(), properties.uuid.bytes, sizeof id);
  const auto ids = comm.gather(id);
  for (std::size_t i = 0; i < ids.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (ids[i] == ids[j])
        return false;
  return true;
}
#endif

#if defined(OSSATURA_HAS_NCCL)
/// Sends a byte round the ranks and one to all: with that NCCL connects neighbours.
void send_first(const Nccl& nccl, ncclComm_t group, int size, int rank) {
  cudaStream_t stream = nullptr;
  char* bytes = nullptr;
  require_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  require_cuda(cudaMalloc(&bytes, std::size_t(size) + 1), "cudaMalloc");
  nccl.require(nccl.group_start(), "ncclGroupStart");
  for (const int step : {1, size - 1})
    if (step == 1 || size > 2) {
      nccl.require(nccl.send(bytes, 1, ncclChar, (rank + step) % size, group, stream), "ncclSend");
      nccl.require(
          nccl.receive(bytes + step, 1, ncclChar, (rank + size - step) % size, group, stream),
          "ncclRecv");
    }
  nccl.require(nccl.group_end(), "ncclGroupEnd");
  nccl.require(nccl.all_gather(bytes + size, bytes, 1, ncclChar, group, stream), "ncclAllGather");
  require_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  require_cuda(cudaFree(bytes), "cudaFree");
  require_cuda(cudaStreamDestroy(stream), "cudaStreamDestroy");
}
#endif

template<class Exec>
Transport choose_transport(const Communicator& comm) {
  if (comm.size() == 1)
    return Transport::none;
  if constexpr (!BackendTraits<Exec>::is_device)
    return Transport::mpi;
#if defined(OSSATURA_HAS_NCCL)
  if (comm.all(find_nccl() != nullptr) && have_devices_of_their_own(comm))
    return Transport::nccl;
#endif
  return Transport::staged;
}

} // namespace

template<class Exec>
struct DeviceComm<Exec>::Engine {
#if defined(KOKKOS_ENABLE_CUDA)
  using Pinned = Kokkos::View<char*, Kokkos::CudaHostPinnedSpace>;
  Pinned sent, received;

  static char* room(Pinned& pinned, std::size_t bytes) {
    if (pinned.extent(0) < bytes)
      pinned = Pinned(Kokkos::view_alloc(Kokkos::WithoutInitializing, "ossatura::comm::staging"),
                      bytes + bytes / 2);
    return pinned.data();
  }
#endif
#if defined(OSSATURA_HAS_NCCL)
  const Nccl* nccl = nullptr;

  /// Begins to join the ranks, in a thread of its own: NCCL takes a third of a second for it, and
  /// the first messages of a group another part. The future waits for the thread when it goes.
  void join(const Communicator& comm) {
    nccl = find_nccl();
    // Memory that several hosts could map takes NCCL a third of a second to make ready.
    if (comm.ranks_on_node() == comm.size())
      ::setenv("NCCL_CUMEM_ENABLE", "0", 0);
    ncclUniqueId id{};
    together(comm, [&] {
      if (comm.is_first())
        nccl->require(nccl->get_unique_id(&id), "ncclGetUniqueId");
    });
    comm.broadcast(id);
    int device = 0;
    require_cuda(cudaGetDevice(&device), "cudaGetDevice");
    joining_ = std::async(
        std::launch::async, [nccl = nccl, device, id, size = comm.size(), rank = comm.rank()] {
          require_cuda(cudaSetDevice(device), "cudaSetDevice");
          ncclComm_t group = nullptr;
          nccl->require(nccl->init_rank(&group, size, id, rank), "ncclCommInitRank");
          send_first(*nccl, group, size, rank);
          return group;
        });
  }

  /// The group, when it is joined; null where none was begun. Throws what joining threw.
  ncclComm_t joined() {
    if (joining_.valid())
      group_ = joining_.get();
    return group_;
  }
#endif
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

#if defined(OSSATURA_HAS_NCCL)
private:
  ncclComm_t group_ = nullptr;
  std::future<ncclComm_t> joining_;
#endif
};

#if defined(OSSATURA_HAS_NCCL)
namespace {

/// A group takes time to join, and keeps device memory: it is made once for each communicator.
/// Nobody ends it, which takes NCCL a fifth of a second: it goes with the process.
template<class Engine>
std::shared_ptr<Engine> joined_group(const Communicator& comm) {
  static std::vector<std::pair<Communicator, std::shared_ptr<Engine>>> groups;
  for (const auto& [known, engine] : groups)
    if (known.native() == comm.native()) // which is kept, so that no other has its place
      return engine;
  if (groups.empty())
    Kokkos::push_finalize_hook([] { groups.clear(); });
  const auto engine = std::make_shared<Engine>();
  engine->join(comm);
  groups.emplace_back(comm, engine);
  return engine;
}

} // namespace
#endif

template<class Exec>
DeviceComm<Exec>::DeviceComm(const Communicator& comm)
    : DeviceComm(comm, choose_transport<Exec>(comm)) {}

template<class Exec>
DeviceComm<Exec>::DeviceComm(const Communicator& comm, Transport transport)
    : comm_(comm)
    , transport_(comm.size() == 1 ? Transport::none : transport) {
  constexpr bool is_device = BackendTraits<Exec>::is_device;
  if (transport_ == Transport::none)
    return;
  bool possible = transport_ == (is_device ? Transport::staged : Transport::mpi);
#if defined(OSSATURA_HAS_NCCL)
  if (is_device && transport_ == Transport::nccl)
    possible = comm.all(find_nccl() != nullptr) && have_devices_of_their_own(comm);
#endif
  if (!comm.all(possible))
    fail<BackendError>("the transport ", name_of(transport), " is not to be had for ", comm.size(),
                       " ranks of the backend ", BackendTraits<Exec>::name,
                       " here: choose another");
#if defined(OSSATURA_HAS_NCCL)
  if (transport_ == Transport::nccl) {
    engine_ = joined_group<Engine>(comm);
    return;
  }
#endif
  engine_ = std::make_shared<Engine>();
}

template<class Exec>
void DeviceComm<Exec>::gather_bytes(const Exec& exec, const void* mine, std::size_t bytes,
                                    void* all) const {
  char* const own = static_cast<char*>(all) + std::size_t(comm_.rank()) * bytes;
  if constexpr (BackendTraits<Exec>::is_device) {
#if defined(KOKKOS_ENABLE_CUDA)
    if (transport_ == Transport::none) {
      if (own != mine)
        require_cuda(
            cudaMemcpyAsync(own, mine, bytes, cudaMemcpyDeviceToDevice, exec.cuda_stream()),
            "all_gather");
      return;
    }
#if defined(OSSATURA_HAS_NCCL)
    if (transport_ == Transport::nccl) {
      const Nccl& nccl = *engine_->nccl;
      nccl.require(
          nccl.all_gather(mine, all, bytes, ncclChar, engine_->joined(), exec.cuda_stream()),
          "ncclAllGather");
      return;
    }
#endif
    char* const sent = Engine::room(engine_->sent, bytes);
    const std::size_t total = bytes * std::size_t(comm_.size());
    char* const received = Engine::room(engine_->received, total);
    require_cuda(cudaMemcpyAsync(sent, mine, bytes, cudaMemcpyDeviceToHost, exec.cuda_stream()),
                 "all_gather");
    fence(exec, "ossatura::comm::all_gather");
    comm_.gather_raw(sent, bytes, received);
    require_cuda(cudaMemcpyAsync(all, received, total, cudaMemcpyHostToDevice, exec.cuda_stream()),
                 "all_gather");
    fence(exec, "ossatura::comm::all_gather"); // the staging memory is free again
#endif
  } else {
    fence(exec, "ossatura::comm::all_gather");
    if (own != mine && bytes > 0)
      std::memmove(own, mine, bytes);
    if (transport_ != Transport::none)
      comm_.gather_raw(nullptr, bytes, all);
  }
}

template<class Exec>
void DeviceComm<Exec>::exchange_bytes(const Exec& exec, const char* from,
                                      const std::vector<RankMessage>& sends, char* to,
                                      const std::vector<RankMessage>& receives,
                                      std::size_t item) const {
  if (transport_ == Transport::none) {
    OSSATURA_REQUIRE(sends.empty() && receives.empty(), "messages of one process to itself");
    return;
  }
  const auto bytes_of = [item](const RankMessage& message) {
    return std::size_t(message.count) * item;
  };
  HostMessages host(comm_.size());
  if constexpr (BackendTraits<Exec>::is_device) {
#if defined(KOKKOS_ENABLE_CUDA)
    const cudaStream_t stream = exec.cuda_stream();
#if defined(OSSATURA_HAS_NCCL)
    if (transport_ == Transport::nccl) {
      const Nccl& nccl = *engine_->nccl;
      const ncclComm_t group = engine_->joined();
      nccl.require(nccl.group_start(), "ncclGroupStart");
      for (const RankMessage& message : sends)
        nccl.require(nccl.send(from + std::size_t(message.begin) * item, bytes_of(message),
                               ncclChar, message.rank, group, stream),
                     "ncclSend");
      for (const RankMessage& message : receives)
        nccl.require(nccl.receive(to + std::size_t(message.begin) * item, bytes_of(message),
                                  ncclChar, message.rank, group, stream),
                     "ncclRecv");
      nccl.require(nccl.group_end(), "ncclGroupEnd");
      return;
    }
#endif
    char* sent = Engine::room(engine_->sent, total_bytes(sends, item));
    for (const RankMessage& message : sends) {
      require_cuda(cudaMemcpyAsync(sent, from + std::size_t(message.begin) * item,
                                   bytes_of(message), cudaMemcpyDeviceToHost, stream),
                   "exchange");
      host.send(message.rank, sent, bytes_of(message));
      sent += bytes_of(message);
    }
    char* received = Engine::room(engine_->received, total_bytes(receives, item));
    for (const RankMessage& message : receives) {
      host.receive(message.rank, received, bytes_of(message));
      received += bytes_of(message);
    }
    fence(exec, "ossatura::comm::exchange");
    comm_.exchange_raw(host.to, host.to_bytes, host.from, host.from_bytes);
    for (const RankMessage& message : receives)
      require_cuda(cudaMemcpyAsync(to + std::size_t(message.begin) * item,
                                   host.from[std::size_t(message.rank)], bytes_of(message),
                                   cudaMemcpyHostToDevice, stream),
                   "exchange");
    fence(exec, "ossatura::comm::exchange"); // the staging memory is free again
#endif
  } else {
    for (const RankMessage& message : sends)
      host.send(message.rank, from + std::size_t(message.begin) * item, bytes_of(message));
    for (const RankMessage& message : receives)
      host.receive(message.rank, to + std::size_t(message.begin) * item, bytes_of(message));
    fence(exec, "ossatura::comm::exchange");
    comm_.exchange_raw(host.to, host.to_bytes, host.from, host.from_bytes);
  }
}

#define OSSATURA_INSTANTIATE(Exec) template class DeviceComm<Exec>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
