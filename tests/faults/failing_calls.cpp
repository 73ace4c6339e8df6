// SPDX-License-Identifier: Apache-2.0
// A library to be loaded before all others (LD_PRELOAD), in which one call that writes a file fails
// as if the disk were full for a moment, one that reads a file as if a part of the disk were
// unreadable, or one that takes memory as if there were none. For tests/faults/failing_calls.py.
//
// FAULT_KIND=write  calls count that write: write, pwrite, writev, sendfile, fwrite, fclose,
//                   ftruncate, fsync, close of a regular file that is open for writing, and rename
//            read   read, pread, readv and fread of a regular file that is open for reading alone
//            memory malloc, calloc, realloc, posix_memalign and aligned_alloc from main() on, where
//                   the executable or the C++ runtime calls them: what other libraries make of a
//                   failure is theirs
//            device, device_memory: failing_device.cpp
//            clock  none; the clock of the day jumps by days, back and forth, and the other one by
//                   an hour, at each look
// FAULT_AT=N        the N-th of these calls fails, from 1 on
// FAULT_LASTING=1   so do all after it
// FAULT_THREAD=main calls of the first thread alone count; other: those of all others. Two threads
//                   that write at a time take turns as they like, but each has its own order.
// FAULT_END_MS=N    from _exit() to the end of the process it takes N milliseconds, in which other
//                   threads go on
// FAULT_MARKER=FILE gets the name of the call that failed or, without FAULT_AT, the number of calls
//
// The clock of the day stands still, and the other one takes a step at each look, so that two runs
// write the same bytes.
#include "tests/faults/counter.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <linux/magic.h>
#include <stdio_ext.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

/// The function of this name in the libraries that follow.
template<class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

/// Whether this is a regular file that is open for reading alone, or for writing. What the kernel
/// tells in files (/proc, /sys) has no disk to fail.
bool is_file(int descriptor, bool to_read) {
  struct stat status {};
  struct statfs system {};
  const int saved = errno;
  const int flags = ::fcntl(descriptor, F_GETFL);
  const bool file = descriptor > 2 && flags >= 0 && ((flags & O_ACCMODE) == O_RDONLY) == to_read &&
                    ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
                    ::fstatfs(descriptor, &system) == 0 && system.f_type != PROC_SUPER_MAGIC &&
                    system.f_type != SYSFS_MAGIC;
  errno = saved;
  return file;
}

const bool clocks_jump = kind_asked_for() == Kind::clock;

time_t time_of_day() {
  static std::atomic<long> looks = 0;
  const time_t start = 1600000000, day = 86400;
  const long look = ++looks;
  return clocks_jump ? start + (look % 2 == 0 ? -day : day) * look : start;
}

bool fails_to_write(const char* call, int descriptor) {
  return is_file(descriptor, false) && fails(call);
}

bool fails_to_read(const char* call, int descriptor) {
  return is_file(descriptor, true) && fails(call, Kind::read);
}

/// The code of the executable and of the C++ runtime.
struct Code {
  std::uintptr_t begin[2] = {}, end[2] = {};

  void add(const dl_phdr_info& object, int place) {
    for (int i = 0; i < object.dlpi_phnum; ++i)
      if (object.dlpi_phdr[i].p_type == PT_LOAD && (object.dlpi_phdr[i].p_flags & PF_X) != 0) {
        begin[place] = object.dlpi_addr + object.dlpi_phdr[i].p_vaddr;
        end[place] = begin[place] + object.dlpi_phdr[i].p_memsz;
      }
  }
  bool has(const void* address) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return (at >= begin[0] && at < end[0]) || (at >= begin[1] && at < end[1]);
  }
};
Code code;
bool is_in_main = false;

int add_code(dl_phdr_info* object, std::size_t, void*) {
  if (object->dlpi_name[0] == '\0') // the executable
    code.add(*object, 0);
  else if (std::strstr(object->dlpi_name, "libstdc++") != nullptr)
    code.add(*object, 1);
  return 0;
}

bool fails_to_allocate(const char* call, const void* caller) {
  return is_in_main && code.has(caller) && fails(call, Kind::memory);
}

int (*real_main)(int, char**, char**) = nullptr;

int counted_main(int count, char** arguments, char** environment) {
  is_in_main = true;
  const int result = real_main(count, arguments, environment);
  is_in_main = false;
  return result;
}

} // namespace

extern "C" {

ssize_t write(int descriptor, const void* data, size_t count) {
  return fails_to_write("write", descriptor)
             ? -1
             : next<decltype(write)>("write")(descriptor, data, count);
}

ssize_t pwrite(int descriptor, const void* data, size_t count, off_t offset) {
  return fails_to_write("pwrite", descriptor)
             ? -1
             : next<decltype(pwrite)>("pwrite")(descriptor, data, count, offset);
}

ssize_t pwrite64(int descriptor, const void* data, size_t count, off64_t offset) {
  return fails_to_write("pwrite64", descriptor)
             ? -1
             : next<decltype(pwrite64)>("pwrite64")(descriptor, data, count, offset);
}

ssize_t writev(int descriptor, const iovec* part, int count) {
  return fails_to_write("writev", descriptor)
             ? -1
             : next<decltype(writev)>("writev")(descriptor, part, count);
}

ssize_t sendfile(int to, int from, off_t* offset, size_t count) {
  using Function = ssize_t(int, int, off_t*, size_t);
  return fails_to_write("sendfile", to) ? -1 : next<Function>("sendfile")(to, from, offset, count);
}

// stdio writes by calls of its own, which cannot be replaced.
size_t fwrite(const void* data, size_t size, size_t count, FILE* stream) {
  return fails_to_write("fwrite", ::fileno(stream))
             ? 0
             : next<decltype(fwrite)>("fwrite")(data, size, count, stream);
}

ssize_t read(int descriptor, void* data, size_t count) {
  return fails_to_read("read", descriptor) ? -1
                                           : next<decltype(read)>("read")(descriptor, data, count);
}

ssize_t pread(int descriptor, void* data, size_t count, off_t offset) {
  return fails_to_read("pread", descriptor)
             ? -1
             : next<decltype(pread)>("pread")(descriptor, data, count, offset);
}

ssize_t pread64(int descriptor, void* data, size_t count, off64_t offset) {
  return fails_to_read("pread64", descriptor)
             ? -1
             : next<decltype(pread64)>("pread64")(descriptor, data, count, offset);
}

ssize_t readv(int descriptor, const iovec* part, int count) {
  return fails_to_read("readv", descriptor)
             ? -1
             : next<decltype(readv)>("readv")(descriptor, part, count);
}

size_t fread(void* data, size_t size, size_t count, FILE* stream) {
  if (!fails_to_read("fread", ::fileno(stream)))
    return next<decltype(fread)>("fread")(data, size, count, stream);
  stream->_flags |= 0x20; // glibc: what ferror looks at
  return 0;
}

int fputs(const char* text, FILE* stream) {
  return fails_to_write("fputs", ::fileno(stream)) ? EOF
                                                   : next<decltype(fputs)>("fputs")(text, stream);
}

int fflush(FILE* stream) {
  return stream != nullptr && __fwritable(stream) && fails_to_write("fflush", ::fileno(stream))
             ? EOF
             : next<decltype(fflush)>("fflush")(stream);
}

int fclose(FILE* stream) {
  const bool failing = __fwritable(stream) && fails_to_write("fclose", ::fileno(stream));
  const int reason = errno;
  const int result = next<decltype(fclose)>("fclose")(stream);
  if (failing)
    errno = reason;
  return failing ? EOF : result;
}

int ftruncate(int descriptor, off_t size) {
  return fails_to_write("ftruncate", descriptor)
             ? -1
             : next<decltype(ftruncate)>("ftruncate")(descriptor, size);
}

int ftruncate64(int descriptor, off64_t size) {
  return fails_to_write("ftruncate64", descriptor)
             ? -1
             : next<decltype(ftruncate64)>("ftruncate64")(descriptor, size);
}

int fsync(int descriptor) {
  return fails_to_write("fsync", descriptor) ? -1 : next<decltype(fsync)>("fsync")(descriptor);
}

int fdatasync(int descriptor) {
  return fails_to_write("fdatasync", descriptor)
             ? -1
             : next<decltype(fdatasync)>("fdatasync")(descriptor);
}

int close(int descriptor) {
  const bool failing = fails_to_write("close", descriptor);
  const int reason = errno;
  const int result = next<decltype(close)>("close")(descriptor); // closed in any case, as by Linux
  if (failing)
    errno = reason;
  return failing ? -1 : result;
}

[[noreturn]] void _exit(int code) {
  if (const char* milliseconds = std::getenv("FAULT_END_MS"))
    ::usleep(1000 * unsigned(std::atoi(milliseconds)));
  ::syscall(SYS_exit_group, code);
  __builtin_unreachable();
}

int rename(const char* from, const char* to) {
  return fails("rename") ? -1 : next<decltype(rename)>("rename")(from, to);
}

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) noexcept {
  return fails_to_allocate("malloc", __builtin_return_address(0)) ? nullptr : __libc_malloc(size);
}

void* calloc(size_t count, size_t size) noexcept {
  return fails_to_allocate("calloc", __builtin_return_address(0)) ? nullptr
                                                                  : __libc_calloc(count, size);
}

void* realloc(void* old, size_t size) noexcept {
  return fails_to_allocate("realloc", __builtin_return_address(0)) ? nullptr
                                                                   : __libc_realloc(old, size);
}

int posix_memalign(void** memory, size_t alignment, size_t size) noexcept {
  if (fails_to_allocate("posix_memalign", __builtin_return_address(0)))
    return ENOMEM;
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}

void* aligned_alloc(size_t alignment, size_t size) noexcept {
  return fails_to_allocate("aligned_alloc", __builtin_return_address(0))
             ? nullptr
             : __libc_memalign(alignment, size);
}

int __libc_start_main(int (*main)(int, char**, char**), int count, char** arguments, void (*init)(),
                      void (*fini)(), void (*loader_fini)(), void* stack) {
  ::dl_iterate_phdr(add_code, nullptr);
  real_main = main;
  return next<decltype(__libc_start_main)>("__libc_start_main")(counted_main, count, arguments,
                                                                init, fini, loader_fini, stack);
}

int clock_gettime(clockid_t clock, timespec* now) {
  static std::atomic<long> steps = 0;
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) {
    now->tv_sec = time_of_day();
    now->tv_nsec = 0;
    return 0;
  }
  const long step = ++steps;
  now->tv_sec = 1000 + (clocks_jump ? 3600 * step : step / 1000);
  now->tv_nsec = step % 1000 * 1000000;
  return 0;
}

time_t time(time_t* now) {
  const time_t seconds = time_of_day();
  if (now != nullptr)
    *now = seconds;
  return seconds;
}

int gettimeofday(timeval* now, void*) {
  now->tv_sec = time_of_day();
  now->tv_usec = 0;
  return 0;
}

} // extern "C"
