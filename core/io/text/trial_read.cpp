// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/text/trial_read.hpp>

#include <ossatura/core/base/require.hpp>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ossatura {

void require_survivable_read(const std::string& path, const std::function<void()>& read,
                             unsigned limit_seconds) {
  const pid_t child = ::fork();
  if (child < 0)
    return;
  if (child == 0) {
    const int nowhere = ::open("/dev/null", O_WRONLY);
    if (nowhere >= 0) {
      ::dup2(nowhere, STDOUT_FILENO);
      ::dup2(nowhere, STDERR_FILENO);
    }
    // The program's own handlers are not for this process.
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM})
      ::signal(signal, SIG_DFL);
    std::set_new_handler([] { ::_exit(0); }); // where memory runs out the caller will, too
    ::alarm(limit_seconds);
    try {
      read();
    } catch (...) {
      // an exception is an answer: the caller will get it too
    }
    ::_exit(0); // no destructors, no buffers of the parent written twice
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return;
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  // The library crashes by other signals; this one comes from the kernel, or from a person.
  if (signal == SIGKILL)
    fail<BackendError>(path, ": reading it was ended by SIGKILL, as where memory runs out: take a "
                             "machine or a container with more of it");
  if (signal == SIGALRM)
    fail<InputError>(path, ": is damaged: reading it did not end within ", limit_seconds, " s");
  // Sanitizers end the child by an exit status of their own.
  fail<InputError>(path, ": is damaged: the library that reads it crashes",
                   signal != 0 ? std::string(" (") + ::strsignal(signal) + ")" : "");
}

} // namespace ossatura
