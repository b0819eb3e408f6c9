// SPDX-License-Identifier: BSD-3-Clause
// H5FD_class_t: the driver of every file that is opened through the connector with the default
// driver, captured or not. It decides at the path which backend a file needs. HDF5 opens external
// links and virtual sources with their parent's driver. So captured and native files can refer to
// each other only if one driver opens both.
#pragma once

#include "vol/binding/id.hpp"
#include "vol/capture/backend.hpp"
#include "vol/driver/chosen_driver.hpp"

namespace mcr::vol {

class CapturePlan;

/// Returns a copy of the file access property list with our driver in it, which behaves like the
/// `chosen` one (standard, same_file, memory; reads_file for a file that is only read). `plan` says
/// how a file that is created with the list is captured (null: not at all), and must live until the
/// create has returned.
Id list_with_driver(hid_t access_list, const CapturePlan* plan, const ChosenDriver& chosen = {});

/// True if the list names our driver.
bool has_our_driver(hid_t access_list);
/// Replaces our driver by the program's own driver, in a list that HDF5 gives to the program.
void show_chosen_driver(hid_t access_list);
/// Registers our driver, if that was not done yet. Call this before an id of another driver is
/// kept: ids are invalid after H5close, and HDF5 tells only registered drivers of it.
void follow_end_of_library();

/// True if the last open of this thread failed because the operating system refused the file. The
/// caller then lets native HDF5 report the error.
bool refused_by_system();
void forget_refusal();

/// While an object of this class lives, a flush of the driver is the program's own (H5Fflush). HDF5
/// also flushes at other times, for example when it creates a file; such a flush is not published.
class ProgramFlush {
 public:
  ProgramFlush();
  ~ProgramFlush();
  ProgramFlush(const ProgramFlush&) = delete;
  ProgramFlush& operator=(const ProgramFlush&) = delete;
};

/// While an object of this class lives, the program itself opens the file, or asks about it, and gets the error if that fails. HDF5
/// also opens files that other files name; a warning then says what the program may not see.
class ProgramOpen {
 public:
  ProgramOpen();
  ~ProgramOpen();
  ProgramOpen(const ProgramOpen&) = delete;
  ProgramOpen& operator=(const ProgramOpen&) = delete;
};

enum class FileWish { native, durable };
/// Makes the file native from now on, or makes its close wait for durability. Does nothing if the
/// file has another driver.
Result<void> tell_driver(void* native_file, FileWish wish);

}  // namespace mcr::vol
