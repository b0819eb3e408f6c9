// SPDX-License-Identifier: BSD-3-Clause
// LD_PRELOAD: makes one allocation of mcr's plugin fail. The plugin has its own operator new, so
// the caller of malloc shows whether an allocation is the plugin's. All other allocations succeed.
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);

static uintptr_t plugin_begin, plugin_end;
static long asked, failing = -1;

// Makes allocation number `at` from now on fail, once; -1: none. Returns how many allocations there
// were since the last call.
long mcr_test_fail_allocation(long at) {
  const long before = asked;
  asked = 0;
  failing = at;
  return before;
}

static int look(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size, (void)data;
  if (!strstr(info->dlpi_name, "libmcr_vol")) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &info->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    plugin_begin = info->dlpi_addr + part->p_vaddr;
    plugin_end = plugin_begin + part->p_memsz;
  }
  return 1;
}

static int is_to_fail(const void* caller) {
  if (failing < 0 && asked == 0 && !plugin_end) return 0;
  if (!plugin_end) dl_iterate_phdr(look, NULL);
  const uintptr_t from = (uintptr_t)caller;
  if (from < plugin_begin || from >= plugin_end) return 0;
  return asked++ == failing;
}

void* malloc(size_t size) {
  if (!is_to_fail(__builtin_return_address(0))) return __libc_malloc(size);
  errno = ENOMEM;
  return NULL;
}
void* calloc(size_t count, size_t size) {
  if (!is_to_fail(__builtin_return_address(0))) return __libc_calloc(count, size);
  errno = ENOMEM;
  return NULL;
}
void* realloc(void* old, size_t size) {
  if (!is_to_fail(__builtin_return_address(0))) return __libc_realloc(old, size);
  errno = ENOMEM;
  return NULL;
}
