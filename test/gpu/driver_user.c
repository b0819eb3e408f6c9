// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into a program: the program then has initialised the driver and made a context, like a program that
// computes on the card. With MCR_TEST_ONLY_INIT, it has no context, like a program that only counts cards.
#include <dlfcn.h>
#include <stdlib.h>

__attribute__((constructor)) static void use_driver(void) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  int (*init)(unsigned) = 0;
  if (library) *(void**)&init = dlsym(library, "cuInit");
  if (init) init(0);
  void* context = 0;
  int (*retain)(void**, int) = 0;
  if (library) *(void**)&retain = dlsym(library, "cuDevicePrimaryCtxRetain");
  if (retain && !getenv("MCR_TEST_ONLY_INIT")) retain(&context, 0);
}
