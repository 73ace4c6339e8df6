// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/machine/job_queue.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/machine/processor_binding.hpp>

#include <system_error>
#include <utility>

namespace ossatura {

JobQueue::JobQueue(std::size_t most)
    : most_(most) {
  OSSATURA_REQUIRE(most > 0, "a queue without room");
}

JobQueue::~JobQueue() {
  if (!thread_.joinable())
    return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void JobQueue::make_room() {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return num_left() < most_; });
  }
  call_rests();
}

void JobQueue::add(Job job) {
  make_room();
  std::unique_lock<std::mutex> lock(mutex_);
  entries_.push_back({std::move(job), nullptr, nullptr});
  if (start()) {
    lock.unlock();
    changed_.notify_all();
  } else {
    run_next(lock);
  }
}

void JobQueue::wait() {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return num_left() == 0; });
  }
  call_rests();
}

/// Whether there is a thread.
bool JobQueue::start() {
  if (thread_.joinable())
    return true;
  try {
    thread_ = std::thread([this] { work(); });
  } catch (const std::exception&) { // no more threads, or no memory for one
    return false;
  }
  return true;
}

void JobQueue::work() {
  unbind_thread();
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return num_left() > 0 || is_ending_; });
    if (num_left() == 0)
      return;
    run_next(lock);
  }
}

/// Runs the first job that is left. `lock` is held, but not while the job runs.
void JobQueue::run_next(std::unique_lock<std::mutex>& lock) {
  Entry& entry = entries_[num_run_]; // stays where it is until it has run
  lock.unlock();
  try {
    entry.rest = entry.job();
  } catch (...) {
    entry.error = std::current_exception();
  }
  entry.job = nullptr; // frees what it owns
  lock.lock();
  ++num_run_;
  changed_.notify_all();
}

void JobQueue::call_rests() {
  for (;;) {
    Entry entry;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (num_run_ == 0)
        return;
      entry = std::move(entries_.front());
      entries_.pop_front();
      --num_run_;
    }
    if (entry.error)
      std::rethrow_exception(entry.error);
    if (entry.rest)
      entry.rest();
  }
}

} // namespace ossatura
