// SPDX-License-Identifier: Apache-2.0
// The part of the library of failing_calls.cpp for CUDA: calls of the driver fail. The CUDA
// runtime, which is linked statically, asks dlsym for cuGetProcAddress and that one for all other
// functions; both are replaced here, and functions that fail get a counting one in their place.
//
// FAULT_KIND=device_memory  calls count that take memory of the device, or of the host for it
//            device         these, and launches, copies, and what waits, asks or gives memory back
// FAULT_DEVICE_ERROR=N      what they return (CUresult); 2, out of memory, where it is not set
#include "tests/faults/counter.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdint>

namespace {

// Of no interest which function it is: arguments are numbers and pointers, at most 12, and what is
// beyond those of the function is not looked at.
using Word = std::uintptr_t;
using Function = int(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word);
using GetProcAddress = int(const char*, void**, int, std::uint64_t, int*);

struct Slot {
  Function* function = nullptr;
  char name[48] = {};
  Kind kind = Kind::device;
};
constexpr int max_slots = 256;
Slot slots[max_slots];
std::atomic<int> num_slots = 0;
GetProcAddress* real_get_proc_address = nullptr;

int error_code() {
  const char* text = std::getenv("FAULT_DEVICE_ERROR");
  return text == nullptr ? 2 : std::atoi(text);
}

bool begins_with(const char* text, const char* begin) {
  return std::strncmp(text, begin, std::strlen(begin)) == 0;
}

template<int S>
int counted(Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h, Word i, Word j, Word k,
            Word l) {
  const Slot& slot = slots[S];
  if (fails(slot.name, Kind::device) ||
      (slot.kind == Kind::device_memory && fails(slot.name, Kind::device_memory)))
    return error_code();
  return slot.function(a, b, c, d, e, f, g, h, i, j, k, l);
}

template<std::size_t... S>
constexpr std::array<Function*, sizeof...(S)> all_counted(std::index_sequence<S...>) {
  return {counted<int(S)>...};
}
constexpr auto counted_functions = all_counted(std::make_index_sequence<max_slots>());

bool takes_memory(const char* name) {
  return begins_with(name, "cuMemAlloc") || begins_with(name, "cuMemHostAlloc") ||
         begins_with(name, "cuMemCreate");
}

bool may_fail(const char* name) {
  for (const char* begin :
       {"cuLaunch", "cuGraphLaunch", "cuMemcpy", "cuMemset", "cuMemFree", "cuStreamSynchronize",
        "cuStreamQuery", "cuStreamWaitEvent", "cuCtxSynchronize", "cuEventRecord", "cuEventQuery",
        "cuEventSynchronize"})
    if (begins_with(name, begin))
      return true;
  return takes_memory(name);
}

int get_proc_address(const char* name, void** function, int version, std::uint64_t flags,
                     int* found) {
  const int result = real_get_proc_address(name, function, version, flags, found);
  if (result != 0 || function == nullptr || *function == nullptr)
    return result;
  if (begins_with(name, "cuGetProcAddress")) {
    *function = reinterpret_cast<void*>(get_proc_address);
  } else if (may_fail(name)) {
    const int s = num_slots++;
    if (s < max_slots) {
      slots[s].function = reinterpret_cast<Function*>(*function);
      slots[s].kind = takes_memory(name) ? Kind::device_memory : Kind::device;
      std::strncpy(slots[s].name, name, sizeof slots[s].name - 1);
      *function = reinterpret_cast<void*>(counted_functions[std::size_t(s)]);
    }
  }
  return result;
}

void* real_dlsym(void* library, const char* name) {
  using Look = void*(void*, const char*);
  static Look* look = nullptr;
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"})
    if (look == nullptr)
      look = reinterpret_cast<Look*>(::dlvsym(RTLD_NEXT, "dlsym", version));
  return look(library, name);
}

} // namespace

extern "C" void* dlsym(void* library, const char* name) noexcept {
  void* found = real_dlsym(library, name);
  if (found == nullptr || !begins_with(name, "cuGetProcAddress_v2"))
    return found;
  real_get_proc_address = reinterpret_cast<GetProcAddress*>(found);
  return reinterpret_cast<void*>(get_proc_address);
}
