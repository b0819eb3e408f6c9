// SPDX-License-Identifier: BSD-3-Clause
// H5FD_class_t: the driver below every file that is opened through the connector with the default
// driver, captured or not. It finds out at the path which backend a file needs: HDF5 opens external
// links and virtual sources with their parent's driver, and only so do all mixes of captured and
// native files work.
#pragma once

#include "vol/binding/id.hpp"
#include "vol/capture/backend.hpp"
#include "vol/driver/chosen_driver.hpp"

namespace mcr::vol {

class CapturePlan;

/// A copy of the file access property list with our driver in it, which does what the `chosen` one
/// would do (standard, same_file, memory; reads_file for a file that is only read). `plan` says how a
/// file that is created with it is captured (null: not at all) and must live until that call has
/// returned.
Id list_with_driver(hid_t access_list, const CapturePlan* plan, const ChosenDriver& chosen = {});

/// True if the list names our driver.
bool has_our_driver(hid_t access_list);
/// Replaces our driver in a list that HDF5 gives to the program by the one that the program chose.
void show_chosen_driver(hid_t access_list);
/// To be called before an id of a driver is kept: ids end with the library (H5close), which says so
/// to drivers alone.
void follow_end_of_library();

/// True where the last open of this thread failed because the operating system refused the file.
/// Native HDF5 then says best why.
bool refused_by_system();
void forget_refusal();

/// While it lives, a flush of the driver is the program's own (H5Fflush). HDF5 flushes files at
/// other times too, when they are created for one, and those are not worth a publish.
class ProgramFlush {
 public:
  ProgramFlush();
  ~ProgramFlush();
  ProgramFlush(const ProgramFlush&) = delete;
  ProgramFlush& operator=(const ProgramFlush&) = delete;
};

enum class FileWish { native, durable };
/// Makes the file native from now on, or its close wait for durability; nothing where it has
/// another driver.
Result<void> tell_driver(void* native_file, FileWish wish);

}  // namespace mcr::vol
