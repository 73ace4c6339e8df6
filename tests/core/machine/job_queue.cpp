// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include <ossatura/core/machine/job_queue.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace ossatura;

namespace {

/// Opened once; jobs wait at it.
class Gate {
public:
  void open() { is_open_ = true; }
  void pass() const {
    while (!is_open_)
      std::this_thread::yield();
  }

private:
  std::atomic<bool> is_open_ = false;
};

void sleep_briefly() {
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

} // namespace

TEST_CASE("Jobs and their rests run in order, each on its thread", "[job_queue]") {
  for (const std::size_t most : {1, 2, 5}) {
    const std::thread::id owner = std::this_thread::get_id();
    std::vector<int> ran, reported, expected; // those of jobs are read after wait()
    std::atomic<bool> apart = true;
    JobQueue queue(most);
    for (int i = 0; i < 200; ++i) {
      expected.push_back(i);
      queue.add([&, i]() -> JobQueue::Rest {
        apart = apart && std::this_thread::get_id() != owner;
        ran.push_back(i);
        return [&, i] {
          apart = apart && std::this_thread::get_id() == owner;
          reported.push_back(i);
        };
      });
      if (i % 50 == 49) {
        queue.wait();
        CHECK(ran == expected);
        CHECK(reported == expected);
      }
    }
    CHECK(apart);
  }
}

TEST_CASE("No more jobs than asked for wait or run, and what they own is freed", "[job_queue]") {
  for (const std::size_t most : {1, 3}) {
    std::atomic<int> alive = 0, largest = 0;
    const auto make = [&alive, &largest] {
      const int now = ++alive;
      int before = largest;
      while (before < now && !largest.compare_exchange_weak(before, now)) {
      }
      return std::shared_ptr<int>(new int(now), [&alive](int* value) {
        delete value;
        --alive;
      });
    };
    JobQueue queue(most);
    for (int i = 0; i < 30; ++i) {
      queue.make_room();
      queue.add([frame = make()]() -> JobQueue::Rest {
        if (*frame % 2 == 0)
          sleep_briefly();
        return nullptr;
      });
    }
    queue.wait();
    CHECK(largest <= int(most));
    CHECK(alive == 0);
  }
}

TEST_CASE("The owner goes on while a job runs, and waits where there is no room", "[job_queue]") {
  JobQueue queue(2);
  Gate gate;
  std::atomic<int> done = 0;
  const auto job = [&]() -> JobQueue::Rest {
    gate.pass();
    ++done;
    return nullptr;
  };
  queue.add(job);
  queue.add(job);
  CHECK(done == 0);
  std::thread opener([&] {
    sleep_briefly();
    gate.open();
  });
  queue.add(job); // when the first one is done
  CHECK(done >= 1);
  queue.wait();
  CHECK(done == 3);
  opener.join();
}

TEST_CASE("What a job or a rest throws comes to the owner, in order", "[job_queue]") {
  Gate gate;
  std::string text;
  JobQueue queue(4);
  const auto say = [&](const char* word) {
    return [&, word]() -> JobQueue::Rest {
      gate.pass();
      return [&text, word] { text += word; };
    };
  };
  queue.add(say("a"));
  queue.add([]() -> JobQueue::Rest { throw std::runtime_error("job"); });
  queue.add([]() -> JobQueue::Rest { return [] { throw std::runtime_error("rest"); }; });
  queue.add(say("b"));
  gate.open();
  CHECK_THROWS_WITH(queue.wait(), "job");
  CHECK(text == "a");
  CHECK_THROWS_WITH(queue.make_room(), "rest");
  CHECK(text == "a");
  queue.wait();
  CHECK(text == "ab");
  queue.add(say("c")); // it goes on
  queue.wait();
  CHECK(text == "abc");
}

TEST_CASE("The end of a queue runs the jobs that are left, and drops what they report",
          "[job_queue]") {
  std::atomic<int> done = 0, reported = 0;
  {
    JobQueue queue(3);
    for (int i = 0; i < 3; ++i)
      queue.add([&, i]() -> JobQueue::Rest {
        sleep_briefly();
        ++done;
        if (i == 1)
          throw std::runtime_error("nobody listens");
        return [&] { ++reported; };
      });
  }
  CHECK(done == 3);
  CHECK(reported <= 2);
  { const JobQueue unused(1); }
  CHECK_THROWS_AS(JobQueue(0), std::invalid_argument);
}

TEST_CASE("An exception of the owner leaves no job behind", "[job_queue]") {
  std::atomic<bool> done = false;
  const auto solve = [&] {
    JobQueue queue(1);
    queue.add([&]() -> JobQueue::Rest {
      sleep_briefly();
      done = true;
      return nullptr;
    });
    throw std::runtime_error("solver");
  };
  CHECK_THROWS_WITH(solve(), "solver");
  CHECK(done);
}
