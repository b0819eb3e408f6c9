// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into a program: the program then has initialised the driver of its card, like a program that
// computes on the card.
#include <dlfcn.h>

__attribute__((constructor)) static void use_driver(void) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  int (*init)(unsigned) = 0;
  if (library) *(void**)&init = dlsym(library, "cuInit");
  if (init) init(0);
}
