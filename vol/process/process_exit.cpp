// SPDX-License-Identifier: BSD-3-Clause
#include "vol/process/process_exit.hpp"

#include <atomic>
#include <cstdlib>

#include "vol/binding/guard.hpp"
#include "vol/process/process.hpp"

namespace mcr::vol {
namespace {

constinit std::atomic<int> status_of_process{0};
constexpr int unknown_status = 255;

void note_exit_status(int status, void*) { status_of_process = status & 0377; }

void end_process() {
  if (Process* process = Process::if_made()) process->end_without_hdf5();
}

void end_quickly() {
  status_of_process = unknown_status;
  end_process();
}

#if defined(__clang__)  // the one destructor that is meant
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wglobal-constructors"
#endif
// Does nothing if HDF5 has ended before.
[[gnu::destructor]] void finalize() { guarded<&end_process>(); }
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

}  // namespace

void watch_exit() {
  on_exit(&note_exit_status, nullptr);
  std::at_quick_exit(guarded<&end_quickly>);
}

int exit_status() { return status_of_process; }

}  // namespace mcr::vol
