// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/machine/part_loop.hpp>

#include <ossatura/core/machine/processor_binding.hpp>
#include <ossatura/core/machine/processors.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace ossatura {

void for_parts(std::size_t count, std::size_t least,
               const std::function<void(std::size_t first, std::size_t end)>& body) {
  const std::size_t most_threads = count / std::max<std::size_t>(least, 1);
  const std::size_t threads = std::min(std::size_t(io_threads()), most_threads);
  if (threads <= 1) {
    if (count > 0)
      body(0, count);
    return;
  }
  // Some more parts than threads, as no two are equally fast.
  const std::size_t part = std::max(least, (count + 4 * threads - 1) / (4 * threads));
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr error;
  const auto work = [&] {
    for (;;) {
      const std::size_t first = next.fetch_add(part);
      if (first >= count)
        return;
      try {
        body(first, std::min(first + part, count));
      } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex);
        if (!error)
          error = std::current_exception();
        next = count;
      }
    }
  };
  std::vector<std::thread> others;
  others.reserve(threads - 1);
  try {
    for (std::size_t t = 1; t < threads; ++t)
      others.emplace_back([&work] {
        unbind_thread();
        work();
      });
  } catch (const std::exception&) { // no more threads, or no memory: those that there are
  }
  work();
  for (std::thread& thread : others)
    thread.join();
  if (error)
    std::rethrow_exception(error);
}

std::optional<std::pair<std::size_t, std::string>>
first_problem(std::size_t count, std::size_t least,
              const std::function<std::string(std::size_t)>& problem) {
  std::optional<std::pair<std::size_t, std::string>> found;
  std::mutex mutex;
  std::atomic<std::size_t> end_of_search = count;
  for_parts(count, least, [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < std::min(end, end_of_search.load()); ++i) {
      std::string text = problem(i);
      if (text.empty())
        continue;
      const std::lock_guard<std::mutex> lock(mutex);
      if (!found || i < found->first) {
        found.emplace(i, std::move(text));
        end_of_search = i;
      }
    }
  });
  return found;
}

} // namespace ossatura
