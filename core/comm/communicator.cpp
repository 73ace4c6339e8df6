// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/comm/communicator.hpp>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <utility>

#if defined(OSSATURA_HAS_MPI)
#define OMPI_SKIP_MPICXX 1 // the C++ bindings, which nothing here uses
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#endif

namespace ossatura {

namespace {

/// The number of processes in a variable of launchers; 0 where it is not set.
int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? 0 : std::max(0, std::atoi(text));
}

} // namespace

int launched_processes() {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"})
    if (const int number = number_in(variable))
      return number;
  // Of srun's step alone: a batch script or an allocation, of one process, has SLURM_NTASKS too.
  return std::max(1, number_in("SLURM_STEP_NUM_TASKS"));
}

#if defined(OSSATURA_HAS_MPI)

namespace {

/// Whether a launcher is there, whose processes MPI joins: also one that says no number.
bool is_launched() {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK"})
    if (std::getenv(variable) != nullptr)
      return true;
  return false;
}

/// Several processes were started, and MPI knows of this one alone.
[[noreturn]] void fail_unjoined(int number) {
  if (std::getenv("SLURM_STEP_NUM_TASKS") != nullptr)
    fail<BackendError>(
        "srun started ", number,
        " tasks that MPI does not join: each would do all of the work. Start them with "
        "srun --mpi=pmix (srun --mpi=list has what this Slurm knows) or with mpirun; "
        "for tasks that are runs of their own, unset SLURM_STEP_NUM_TASKS");
  fail<BackendError>("a launcher started ", number,
                     " processes that MPI does not join: each would do all of the work. Start them "
                     "with the mpirun of the MPI that this program was built with");
}

/// Bytes of one message: counts of MPI are ints.
constexpr std::size_t longest_message = std::size_t(1) << 30;

void end_mpi() {
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended == 0)
    MPI_Finalize();
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  return size;
}

} // namespace

struct Communicator::Group {
  MPI_Comm comm;
  bool owned;

  Group(MPI_Comm handle, bool is_owned)
      : comm(handle)
      , owned(is_owned) {}
  ~Group() {
    int ended = 0;
    MPI_Finalized(&ended);
    if (owned && ended == 0)
      MPI_Comm_free(&comm);
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
};

Communicator::Communicator() = default;

Communicator::Communicator(std::shared_ptr<Group> group)
    : group_(std::move(group))
    , rank_(rank_in(group_->comm))
    , size_(size_of(group_->comm)) {
  MPI_Comm node;
  MPI_Comm_split_type(group_->comm, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node);
  rank_on_node_ = rank_in(node);
  ranks_on_node_ = size_of(node);
  MPI_Comm_free(&node);
  if (size_ == 1)
    group_.reset();
}

Communicator Communicator::world() {
  static const Communicator all = [] {
    const int number = launched_processes();
    if (!is_launched()) {
      if (number > 1)
        fail_unjoined(number);
      return Communicator();
    }
    int started = 0, level = 0;
    MPI_Initialized(&started);
    if (started == 0) {
      MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
      std::atexit(end_mpi);
    }
    // Of its own, so that no message meets those of a program around this library.
    MPI_Comm own;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    if (number > 1 && size_of(own) == 1) // of another MPI than the launcher's
      fail_unjoined(number);
    return Communicator(std::make_shared<Group>(own, false));
  }();
  return all;
}

Communicator Communicator::split(int colour) const {
  if (!group_)
    return *this;
  MPI_Comm part;
  MPI_Comm_split(group_->comm, colour, rank_, &part);
  return Communicator(std::make_shared<Group>(part, true));
}

Communicator Communicator::on_node() const {
  if (!group_)
    return *this;
  MPI_Comm part;
  MPI_Comm_split_type(group_->comm, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &part);
  return Communicator(std::make_shared<Group>(part, true));
}

void Communicator::abort(int exit_code) const {
  int started = 0, ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  if (started != 0 && ended == 0)
    MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

void* Communicator::native() const {
  return group_ ? &group_->comm : nullptr;
}

bool Communicator::all(bool condition) const {
  int value = condition ? 1 : 0;
  if (group_)
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MIN, group_->comm);
  return value != 0;
}

void Communicator::wait_for_all() const {
  if (group_)
    MPI_Barrier(group_->comm);
}

void Communicator::gather_raw(const void* mine, std::size_t bytes, void* all) const {
  if (!group_)
    return;
  if (bytes <= INT_MAX) { // on all ranks alike
    MPI_Allgather(mine == nullptr ? MPI_IN_PLACE : mine, int(bytes), MPI_BYTE, all, int(bytes),
                  MPI_BYTE, group_->comm);
    return;
  }
  const auto place = [&](int rank) { return static_cast<char*>(all) + std::size_t(rank) * bytes; };
  if (mine != nullptr)
    std::memcpy(place(rank_), mine, bytes);
  for (int rank = 0; rank < size_; ++rank)
    broadcast_bytes(place(rank), bytes, rank);
}

void Communicator::gather_items(const void* mine, std::int64_t count,
                                const std::vector<std::int64_t>& counts, std::size_t item,
                                void* all) const {
  MPI_Datatype type;
  MPI_Type_contiguous(int(item), MPI_BYTE, &type);
  MPI_Type_commit(&type);
  std::vector<int> lengths, places;
  int place = 0;
  for (const std::int64_t length : counts) {
    lengths.push_back(int(length));
    places.push_back(place);
    place += int(length);
  }
  MPI_Allgatherv(mine, int(count), type, all, lengths.data(), places.data(), type, group_->comm);
  MPI_Type_free(&type);
}

void Communicator::broadcast_bytes(void* data, std::size_t bytes, int root) const {
  for (std::size_t begin = 0; begin < bytes; begin += longest_message)
    MPI_Bcast(static_cast<char*>(data) + begin, int(std::min(longest_message, bytes - begin)),
              MPI_BYTE, root, group_->comm);
}

void Communicator::exchange_raw(const std::vector<const void*>& to,
                                const std::vector<std::size_t>& to_bytes,
                                const std::vector<void*>& from,
                                const std::vector<std::size_t>& from_bytes) const {
  if (!group_)
    return;
  constexpr int tag = 1;
  std::vector<MPI_Request> requests;
  for (int rank = 0; rank < size_; ++rank)
    for (std::size_t begin = 0; begin < from_bytes[std::size_t(rank)]; begin += longest_message)
      MPI_Irecv(static_cast<char*>(from[std::size_t(rank)]) + begin,
                int(std::min(longest_message, from_bytes[std::size_t(rank)] - begin)), MPI_BYTE,
                rank, tag, group_->comm, &requests.emplace_back());
  for (int rank = 0; rank < size_; ++rank)
    for (std::size_t begin = 0; begin < to_bytes[std::size_t(rank)]; begin += longest_message)
      MPI_Isend(static_cast<const char*>(to[std::size_t(rank)]) + begin,
                int(std::min(longest_message, to_bytes[std::size_t(rank)] - begin)), MPI_BYTE, rank,
                tag, group_->comm, &requests.emplace_back());
  MPI_Waitall(int(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

void Communicator::send_bytes(const void* data, std::size_t bytes, int to) const {
  OSSATURA_REQUIRE(group_ && to != rank_, "a message of rank " << rank_ << " to itself");
  for (std::size_t begin = 0; begin < bytes; begin += longest_message)
    MPI_Send(static_cast<const char*>(data) + begin, int(std::min(longest_message, bytes - begin)),
             MPI_BYTE, to, 2, group_->comm);
}

void Communicator::receive_bytes(void* data, std::size_t bytes, int from) const {
  OSSATURA_REQUIRE(group_ && from != rank_, "a message of rank " << rank_ << " to itself");
  for (std::size_t begin = 0; begin < bytes; begin += longest_message)
    MPI_Recv(static_cast<char*>(data) + begin, int(std::min(longest_message, bytes - begin)),
             MPI_BYTE, from, 2, group_->comm, MPI_STATUS_IGNORE);
}

#else

// Without MPI every group is one process, for which the functions of the header send nothing.

struct Communicator::Group {};

Communicator::Communicator() = default;

Communicator::Communicator(std::shared_ptr<Group> group)
    : group_(std::move(group)) {}

Communicator Communicator::world() {
  const int number = launched_processes();
  if (number > 1)
    fail<BackendError>("a launcher started ", number,
                       " processes, and this build is without MPI: each would do all of the work. "
                       "Build with MPI (Debian: libopenmpi-dev), or start one process");
  return Communicator();
}

Communicator Communicator::split(int) const {
  return *this;
}

Communicator Communicator::on_node() const {
  return *this;
}

void Communicator::abort(int exit_code) const {
  std::_Exit(exit_code);
}

void* Communicator::native() const {
  return nullptr;
}

bool Communicator::all(bool condition) const {
  return condition;
}

void Communicator::wait_for_all() const {}

void Communicator::gather_raw(const void*, std::size_t, void*) const {}
void Communicator::gather_items(const void*, std::int64_t, const std::vector<std::int64_t>&,
                                std::size_t, void*) const {}
void Communicator::broadcast_bytes(void*, std::size_t, int) const {}
void Communicator::exchange_raw(const std::vector<const void*>&, const std::vector<std::size_t>&,
                                const std::vector<void*>&, const std::vector<std::size_t>&) const {}
void Communicator::send_bytes(const void*, std::size_t, int) const {
  OSSATURA_REQUIRE(false, "a message between ranks of one process");
}
void Communicator::receive_bytes(void*, std::size_t, int) const {
  OSSATURA_REQUIRE(false, "a message between ranks of one process");
}

#endif

void Communicator::broadcast(std::string& text, int root) const {
  std::vector<char> letters(text.begin(), text.end());
  broadcast(letters, root);
  text.assign(letters.begin(), letters.end());
}

} // namespace ossatura
