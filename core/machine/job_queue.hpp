// SPDX-License-Identifier: Apache-2.0
// A job queue runs jobs one after the other on a thread of its own, while the thread that owns the
// queue goes on: files of a long run are written so beside its solve.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace ossatura {

/// Order: jobs run as they were added, never two at a time, and so do their rests. A job owns what
/// it needs, or what it refers to outlives the queue and is left alone until wait() returns.
/// Bound: at most `most` jobs wait or run; what a job owns is freed when it has run.
/// Errors: what a job throws is thrown to the owner in place of its rest; jobs behind it run.
/// End: the destructor runs the jobs that are left. Rests and errors that nobody took are dropped.
/// One thread owns the queue and calls its functions. Where no thread can be started, add() runs
/// the job itself.
class JobQueue {
public:
  /// What is left of a job for the owner's thread to do, such as to report it; may be empty, and
  /// may throw.
  using Rest = std::function<void()>;
  using Job = std::function<Rest()>;

  /// `most` is 1 or more. The thread starts with the first job.
  explicit JobQueue(std::size_t most);
  ~JobQueue();
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;

  /// Waits until there is room for another job, and calls the rests of those that have run. Throws
  /// what they throw; the rests behind are called next time.
  void make_room();
  /// make_room(), and hands the job over.
  void add(Job job);
  /// Waits until all jobs have run, and calls their rests as make_room() does.
  void wait();

private:
  struct Entry {
    Job job;
    Rest rest;
    std::exception_ptr error;
  };
  std::size_t num_left() const { return entries_.size() - num_run_; }
  bool start();
  void work();
  void run_next(std::unique_lock<std::mutex>& lock);
  void call_rests();

  std::size_t most_;
  std::mutex mutex_; ///< of the three that follow
  std::deque<Entry> entries_;
  std::size_t num_run_ = 0; ///< of the entries, from the first on
  bool is_ending_ = false;
  std::condition_variable changed_;
  std::thread thread_; ///< last: it uses the others
};

} // namespace ossatura
