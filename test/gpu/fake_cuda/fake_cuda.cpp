// SPDX-License-Identifier: BSD-3-Clause
// A libcuda.so.1 without a card: runs mcr's kernels on the CPU, so that the loader, the leader and the
// tools run their own code for cards in tests. It is as strict as the real driver about contexts, and
// about processes that were forked after cuInit.
//
// MCR_FAKE_CUDA holds words, separated by commas:
//   devices=N      number of cards (1)
//   mode=N         compute mode (0); mps=1: contexts are shared by MPS
//   memory=BYTES   memory of the card (1 GiB)
//   fail=NAME:N:S  the N-th call of NAME returns the status S, and so does every later call that works
//                  with a stream, as after a kernel's fault; with S=2 (no memory) only calls from then on
//                  of the same name
//   call=N:S       the same for the N-th call of any name
//   hang=N         the N-th kernel never ends
//   block=NAME:N   the N-th call of NAME (the first) and all later ones never return
//   kill=N         at the N-th kernel the process dies, as by a fault in the driver
//   stay=1         the library's own work at the end of the process never ends
//   slow=US        each kernel takes so many microseconds more
//   slow_init=MS   cuInit takes so many milliseconds
//   flip=N         the N-th copy from the card has a wrong byte
//   log=FILE       appends what happened, a line each: "init PID", "memory BYTES" (the new sum),
//                  "calls N" (at the end of each stream)
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "codecs/gpu/kernels/kernel_table.hpp"

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

using Status = int;
using mcr::codecs::gpu::Kernel;
using mcr::codecs::gpu::KernelArguments;

constexpr Status success = 0;
constexpr Status invalid_value = 1;
constexpr Status out_of_memory = 2;
constexpr Status not_initialized = 3;
constexpr Status invalid_device = 101;
constexpr Status invalid_image = 200;
constexpr Status invalid_context = 201;
constexpr Status not_found = 500;
constexpr Status not_ready = 600;
constexpr Status illegal_address = 700;

struct Fake {
  std::mutex mutex;
  std::map<std::string, long> numbers;
  std::string fail_name;
  long fail_at = 0;
  Status fail_status = 0;
  long call_at = 0;
  std::string blocked_name;
  long blocked_from = 1;
  std::atomic<long> blocked_calls{0};
  std::string log;

  std::map<std::string, long> calls;
  long all_calls = 0;
  long launches = 0;
  long downloads = 0;
  std::size_t memory = 0;
  std::map<std::uint64_t, std::size_t> blocks;
  std::map<void*, std::size_t> pinned;
  Status broken = success;
  std::string full_name;
  bool hangs = false;
  pid_t process = 0;
  std::atomic<bool> is_retained{false};

  Fake() {
    const char* const text = std::getenv("MCR_FAKE_CUDA");
    std::string words = text != nullptr ? text : "";
    while (!words.empty()) {
      const std::string word = words.substr(0, words.find(','));
      words.erase(0, word.size() + 1);
      const std::string key = word.substr(0, word.find('='));
      const std::string value = word.substr(std::min(word.size(), key.size() + 1));
      if (key == "log") {
        log = value;
      } else if (key == "block") {
        blocked_name = value.substr(0, value.find(':'));
        std::sscanf(value.c_str() + blocked_name.size(), ":%ld", &blocked_from);
      } else if (key == "fail") {
        fail_name = value.substr(0, value.find(':'));
        std::sscanf(value.c_str() + fail_name.size(), ":%ld:%d", &fail_at, &fail_status);
      } else if (key == "call") {
        std::sscanf(value.c_str(), "%ld:%d", &call_at, &fail_status);
      } else {
        numbers[key] = std::atol(value.c_str());
      }
    }
  }
  long number(const char* key, long otherwise) {
    const auto found = numbers.find(key);
    return found == numbers.end() ? otherwise : found->second;
  }
  void tell(const std::string& line) {
    if (log.empty()) return;
    const int file = ::open(log.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return;
    (void)!::write(file, (line + "\n").data(), line.size() + 1);
    ::close(file);
  }
};

Fake& fake() {
  static Fake* const made = new Fake;
  return *made;
}

__attribute__((destructor)) void end_of_process() {
  while (fake().number("stay", 0) != 0) ::pause();
}

constexpr std::size_t page_bytes = 4096;
std::size_t whole_pages(std::size_t bytes) {
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

thread_local std::vector<void*> contexts;
int the_context = 0;

enum class Needs { nothing, driver, context, card };

/// Never returns if the call is to be blocked.
void stop_if_blocked(const char* name) {
  Fake& now = fake();
  if (now.blocked_name != name || ++now.blocked_calls < now.blocked_from) return;
  {
    const std::lock_guard lock(now.mutex);
    now.tell("blocked");
  }
  for (;;) ::pause();
}

/// What every call begins with. Returns what the call has to return, if that is an error.
Status begin(const char* name, Needs needs) {
  Fake& now = fake();
  stop_if_blocked(name);
  const std::lock_guard lock(now.mutex);
  ++now.all_calls;
  const long count = ++now.calls[name];
  const bool is_fault =
      (now.fail_name == name && count == now.fail_at) || now.all_calls == now.call_at;
  if (is_fault && now.fail_status == out_of_memory) now.full_name = name;
  if (is_fault && now.fail_status != out_of_memory) {
    now.broken = now.fail_status;
    return now.broken;
  }
  if (now.full_name == name) return out_of_memory;
  if (needs == Needs::nothing) return success;
  if (now.process != ::getpid()) return not_initialized;
  if (needs == Needs::driver) return success;
  if (contexts.empty()) return invalid_context;
  return needs == Needs::card ? now.broken : success;
}

}  // namespace

#define BEGIN(name, needs) \
  if (const Status status = begin(name, Needs::needs); status != success) return status

EXPORTED Status cuInit(unsigned) {
  BEGIN("cuInit", nothing);
  Fake& now = fake();
  std::this_thread::sleep_for(std::chrono::milliseconds(now.number("slow_init", 0)));
  const std::lock_guard lock(now.mutex);
  now.process = ::getpid();
  now.tell("init " + std::to_string(now.process));
  return success;
}
EXPORTED Status cuDriverGetVersion(int* version) {
  BEGIN("cuDriverGetVersion", nothing);
  *version = 12040;
  return success;
}
EXPORTED Status cuGetErrorString(Status status, const char** text) {
  stop_if_blocked("cuGetErrorString");
  *text = status == out_of_memory ? "out of memory" : "fake error";
  return success;
}
EXPORTED Status cuDeviceGetCount(int* count) {
  BEGIN("cuDeviceGetCount", driver);
  *count = static_cast<int>(fake().number("devices", 1));
  return success;
}
EXPORTED Status cuDeviceGet(int* device, int ordinal) {
  BEGIN("cuDeviceGet", driver);
  if (ordinal < 0 || ordinal >= fake().number("devices", 1)) return invalid_device;
  *device = ordinal;
  return success;
}
EXPORTED Status cuDeviceGetName(char* name, int length, int device) {
  BEGIN("cuDeviceGetName", driver);
  std::snprintf(name, static_cast<std::size_t>(length), "Fake %d", device);
  return success;
}
EXPORTED Status cuDeviceGetAttribute(int* value, int attribute, int) {
  BEGIN("cuDeviceGetAttribute", driver);
  constexpr int compute_mode = 20;
  constexpr int major = 75;
  constexpr int minor = 76;
  constexpr int mps = 133;
  switch (attribute) {
    case compute_mode:
      *value = static_cast<int>(fake().number("mode", 0));
      return success;
    case major:
      *value = 9;
      return success;
    case minor:
      *value = 0;
      return success;
    case mps:
      *value = static_cast<int>(fake().number("mps", 0));
      return success;
    default:
      return invalid_value;
  }
}
EXPORTED Status cuDevicePrimaryCtxRetain(void** context, int) {
  BEGIN("cuDevicePrimaryCtxRetain", driver);
  *context = &the_context;
  fake().is_retained = true;
  return success;
}
EXPORTED Status cuDevicePrimaryCtxGetState(int, unsigned* flags, int* active) {
  BEGIN("cuDevicePrimaryCtxGetState", driver);
  *flags = 0;
  *active = fake().is_retained ? 1 : 0;
  return success;
}
EXPORTED Status cuCtxPushCurrent_v2(void* context) {
  BEGIN("cuCtxPushCurrent_v2", driver);
  contexts.push_back(context);
  return success;
}
EXPORTED Status cuCtxPopCurrent_v2(void** context) {
  BEGIN("cuCtxPopCurrent_v2", driver);
  if (contexts.empty()) return invalid_context;
  *context = contexts.back();
  contexts.pop_back();
  return success;
}
EXPORTED Status cuCtxGetStreamPriorityRange(int* lowest, int* highest) {
  BEGIN("cuCtxGetStreamPriorityRange", context);
  *lowest = 0;
  *highest = -5;
  return success;
}
EXPORTED Status cuStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  BEGIN("cuStreamCreateWithPriority", card);
  if (flags != 1 || priority != 0) return invalid_value;
  *stream = new int;
  return success;
}
EXPORTED Status cuStreamQuery(void*) {
  BEGIN("cuStreamQuery", card);
  return fake().hangs ? not_ready : success;
}
EXPORTED Status cuStreamDestroy_v2(void* stream) {
  BEGIN("cuStreamDestroy_v2", card);
  delete static_cast<int*>(stream);
  const std::lock_guard lock(fake().mutex);
  fake().tell("calls " + std::to_string(fake().all_calls));
  return success;
}
EXPORTED Status cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) {
  BEGIN("cuMemAlloc_v2", card);
  Fake& now = fake();
  const std::lock_guard lock(now.mutex);
  if (bytes == 0) return invalid_value;
  if (now.memory + bytes > static_cast<std::size_t>(now.number("memory", 1L << 30)))
    return out_of_memory;
  // The block ends where a page that nobody may touch begins.
  const std::size_t pages = whole_pages(bytes);
  void* const memory = ::mmap(nullptr, pages + page_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return out_of_memory;
  ::mprotect(static_cast<char*>(memory) + pages, page_bytes, PROT_NONE);
  std::memset(memory, 0xa5, pages);
  *address = reinterpret_cast<std::uint64_t>(memory) + pages - bytes;
  now.blocks[*address] = bytes;
  now.memory += bytes;
  now.tell("memory " + std::to_string(now.memory));
  return success;
}
EXPORTED Status cuMemFree_v2(std::uint64_t address) {
  BEGIN("cuMemFree_v2", card);
  Fake& now = fake();
  const std::lock_guard lock(now.mutex);
  const auto found = now.blocks.find(address);
  if (found == now.blocks.end()) return invalid_value;
  const std::size_t bytes = found->second;
  now.memory -= bytes;
  now.blocks.erase(found);
  const std::size_t pages = whole_pages(bytes);
  ::munmap(reinterpret_cast<void*>(address + bytes - pages), pages + page_bytes);
  now.tell("memory " + std::to_string(now.memory));
  return success;
}
EXPORTED Status cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
  BEGIN("cuMemHostAlloc", card);
  // Like the driver's, this memory does not exist in a child.
  void* const made =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) return out_of_memory;
  ::madvise(made, bytes, MADV_DONTFORK);
  const std::lock_guard lock(fake().mutex);
  fake().pinned[made] = bytes;
  *memory = made;
  return success;
}
EXPORTED Status cuMemFreeHost(void* memory) {
  BEGIN("cuMemFreeHost", card);
  const std::lock_guard lock(fake().mutex);
  const auto found = fake().pinned.find(memory);
  if (found == fake().pinned.end()) return invalid_value;
  ::munmap(memory, found->second);
  fake().pinned.erase(found);
  return success;
}

namespace {

/// True if the bytes lie in one block of the card's memory.
bool is_on_card(std::uint64_t address, std::size_t bytes) {
  Fake& now = fake();
  const std::lock_guard lock(now.mutex);
  auto found = now.blocks.upper_bound(address);
  if (found == now.blocks.begin()) return false;
  --found;
  return address + bytes <= found->first + found->second;
}

}  // namespace

EXPORTED Status cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes, void*) {
  BEGIN("cuMemcpyHtoDAsync_v2", card);
  if (!is_on_card(to, bytes)) return invalid_value;
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return success;
}
EXPORTED Status cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t bytes, void*) {
  BEGIN("cuMemcpyDtoHAsync_v2", card);
  if (!is_on_card(from, bytes)) return invalid_value;
  if (fake().hangs) return success;
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  const std::lock_guard lock(fake().mutex);
  if (++fake().downloads == fake().number("flip", 0) && bytes > 0)
    static_cast<char*>(to)[bytes / 2] ^= 1;
  return success;
}
EXPORTED Status cuMemsetD8Async(std::uint64_t to, unsigned char value, std::size_t bytes, void*) {
  BEGIN("cuMemsetD8Async", card);
  if (!is_on_card(to, bytes)) return invalid_value;
  std::memset(reinterpret_cast<void*>(to), value, bytes);
  return success;
}
EXPORTED Status cuModuleLoadDataEx(void** module, const void* image, unsigned, int*, void**) {
  BEGIN("cuModuleLoadDataEx", context);
  if (std::strstr(static_cast<const char*>(image), ".version") == nullptr) return invalid_image;
  *module = &the_context;
  return success;
}
EXPORTED Status cuModuleGetFunction(const void** function, void*, const char* name) {
  BEGIN("cuModuleGetFunction", context);
  for (const Kernel& kernel : mcr::codecs::gpu::kernel_table()) {
    if (std::strcmp(kernel.name, name) != 0) continue;
    *function = &kernel;
    return success;
  }
  return not_found;
}
namespace {

thread_local sigjmp_buf* kernel_fault = nullptr;

extern "C" void leave_kernel(int signal) {
  if (kernel_fault != nullptr) siglongjmp(*kernel_fault, 1);
  ::signal(signal, SIG_DFL);
}

/// Returns false if the kernel touched memory that is not there: a card reports that with a later call.
bool run_kernel(const Kernel& kernel, unsigned blocks, const KernelArguments& arguments) {
  static const bool is_watched = [] {
    struct sigaction action {};
    action.sa_handler = leave_kernel;
    ::sigaction(SIGSEGV, &action, nullptr);
    ::sigaction(SIGBUS, &action, nullptr);
    return true;
  }();
  (void)is_watched;
  sigjmp_buf place;
  if (sigsetjmp(place, 1) != 0) {
    kernel_fault = nullptr;
    return false;
  }
  kernel_fault = &place;
  for (unsigned block = 0; block < blocks; ++block) kernel.run_block(block, blocks, arguments);
  kernel_fault = nullptr;
  return true;
}

}  // namespace

EXPORTED Status cuLaunchKernel(const void* function, unsigned blocks, unsigned, unsigned,
                               unsigned threads, unsigned, unsigned, unsigned shared_bytes, void*,
                               void** parameters, void**) {
  BEGIN("cuLaunchKernel", card);
  Fake& now = fake();
  if (threads != mcr::codecs::gpu::k_block_threads || shared_bytes != 0) return invalid_value;
  {
    const std::lock_guard lock(now.mutex);
    if (++now.launches == now.number("hang", 0)) now.hangs = true;
    if (now.launches == now.number("kill", 0)) std::raise(SIGKILL);
    if (now.hangs) return success;
  }
  const auto& arguments = *static_cast<const KernelArguments*>(parameters[0]);
  if (!run_kernel(*static_cast<const Kernel*>(function), blocks, arguments)) {
    const std::lock_guard lock(now.mutex);
    now.broken = illegal_address;
  }
  if (const long pause = now.number("slow", 0); pause > 0)
    std::this_thread::sleep_for(std::chrono::microseconds(pause));
  return success;
}
