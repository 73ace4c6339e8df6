// SPDX-License-Identifier: Apache-2.0
// The ossatura executable of a wheel: its code is in the module beside it, which has all of it for
// Python too, so that a wheel carries one copy. It is a process of its own, without Python: what
// the module wants of Python is never called, and python_symbols.cmake gives the names.
#include <cstdio>

#include <dlfcn.h>

int main(int argc, char* argv[]) {
  constexpr int exit_unavailable = 4; // apps/driver/exit_code.hpp
  void* const module = ::dlopen("$ORIGIN/../" OSSATURA_MODULE, RTLD_NOW | RTLD_LOCAL);
  void* const symbol = module == nullptr ? nullptr : ::dlsym(module, "ossatura_main");
  if (symbol == nullptr) {
    std::fprintf(stderr, "ossatura: error: %s: install the package ossatura again\n", ::dlerror());
    return exit_unavailable;
  }
  return reinterpret_cast<int (*)(int, char**)>(symbol)(argc, argv);
}
