// SPDX-License-Identifier: BSD-3-Clause
// H5FD_class_t: the driver below every file that is opened through the connector with the default
// driver, captured or not. It finds out at the path which backend a file needs: HDF5 opens external
// links and virtual sources with their parent's driver, and only so do all mixes of captured and
// native files work.
#pragma once

#include "vol/binding/id.hpp"
#include "vol/driver/backend.hpp"

namespace mcr::vol {

class CapturePlan;

/// A copy of the file access property list with our driver in it; `plan` says how a file that is
/// created with it is captured (null: not at all) and must live until that call has returned.
Id list_with_driver(hid_t access_list, const CapturePlan* plan);

/// Whether the list names the default driver, sec2.
bool has_default_driver(hid_t access_list);
/// Whether the list names our driver.
bool has_our_driver(hid_t access_list);
/// One whose file is one file as the default driver writes it: what reads it would read a stub's
/// part. Not so the family driver and its like, whose members have lists of their own.
bool has_plain_file_driver(hid_t access_list);

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
