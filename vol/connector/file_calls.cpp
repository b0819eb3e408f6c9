// SPDX-License-Identifier: BSD-3-Clause
#include "vol/connector/file_calls.hpp"

#include <memory>

#include "vol/binding/error_stack.hpp"
#include "vol/binding/id.hpp"
#include "vol/capture/capture_plan.hpp"
#include "vol/capture/staged_file.hpp"
#include "vol/connector/connector.hpp"
#include "vol/driver/driver.hpp"
#include "vol/driver/open_path.hpp"
#include "vol/process/info_string.hpp"
#include "vol/process/mpi_world.hpp"
#include "vol/process/native_files.hpp"
#include "vol/process/process.hpp"
#include "vol/process/writing_counts.hpp"

namespace mcr::vol {

namespace {

// Calls `with_list` with a property list that has our driver in place of the chosen one. If the
// operating system refused the file, calls `with_list` once more with the program's own list, so
// that native HDF5 reports the error in its own words. (h5py makes FileNotFoundError and
// FileExistsError from the errno in that text.)
template <typename Call>
void* call_with_driver(hid_t access_list, const CapturePlan* plan, Call with_list,
                       const ChosenDriver& chosen = {}) {
  Id list = list_with_driver(access_list, plan, chosen);
  if (!list) return with_list(access_list);
  forget_refusal();
  void* file = with_list(list.get());
  if (file != nullptr) return file;
  {
    const KeptErrors kept;
    list = Id();
  }
  if (!refused_by_system()) return nullptr;
  hdf5.H5Eclear2(H5E_DEFAULT);
  return with_list(access_list);
}

bool is_refused(const char* function, const std::string& mistake) {
  if (mistake.empty()) return false;
  push_error(function, Error{Cause::usage, mistake});
  return true;
}

// True if the program chose this connector. False if HDF5 only found us because it tries every
// plugin on its path.
bool is_chosen(hid_t access_list) {
  if (is_named_by_environment()) return true;
  const auto info = HeldInfo::of(access_list);
  return info && info->is_there();
}

// True if a stub lies at the path, and the program's driver would have read a native file at that
// path. (If HDF5 1.14 finds our connector by itself for a list with the family driver, it never
// closes the list, and crashes when it ends.)
bool is_stub_for(const char* name, hid_t access_list) {
  return name != nullptr && is_stub_path(name) &&
         chosen_driver(access_list).kind != DriverKind::other;
}

// Opens a stub for a program that chose another driver than the default one.
template <typename Call>
void* open_stub_with(const ChosenDriver& chosen, const char* name, unsigned flags,
                     hid_t access_list, Call native) {
  const bool for_writing = (flags & H5F_ACC_RDWR) != 0;
  if (chosen.kind == DriverKind::ours) return native(access_list);
  if (chosen.kind != DriverKind::other && !(chosen.kind == DriverKind::reads_file && for_writing))
    return call_with_driver(access_list, nullptr, native, chosen);
  // Family, multi and similar drivers derive other names from this one, and may not need the stub.
  if (chosen.kind == DriverKind::other) {
    if (void* file = native(access_list)) return file;
  }
  push_error("H5Fopen",
             Error{Cause::unsupported,
                   std::string(name) + " is a captured file, which " +
                       (for_writing ? "cannot be written" : "cannot be read") +
                       " by the file driver that the program chose; nothing was changed. Open it "
                       "with the default driver, or give the program a plain file: mcr unpack " +
                       name + " -d DIR"});
  return nullptr;
}

// True if we should answer for the file. Leaves HDF5's error stack unchanged: it is about the open
// that failed, and the program may print or inspect it.
bool is_for_us(const char* name, hid_t access_list) {
  const KeptErrors kept;
  return is_stub_for(name, access_list) || is_chosen(access_list);
}

// Counts a file that another driver than the default one has created. The ranks that create a file
// through MPI-IO create it together, so rank 0 alone counts it. A file of the core driver that has
// no backing store is none.
void count_file_of(const ChosenDriver& chosen) {
  if (chosen.kind == DriverKind::memory && !chosen.core.has_backing_store) return;
  const auto world = chosen.is_parallel ? mpi_world() : std::nullopt;
  if (world && world->rank != 0) return;
  count_native_file(restart::NativeReason::driver);
}

bool has_user_block(hid_t create_list) {
  hsize_t bytes = 0;
  return hdf5.H5Pget_userblock(create_list, &bytes) >= 0 && bytes > 0;
}

// Counts a failed attempt to write. A second try (call_with_driver) that succeeds still counts as failed: our driver has not
// seen that file, so no sequence counts it.
void count_if_failed(const char* name, const void* file, unsigned tries) {
  if ((file == nullptr || tries > 1) && name != nullptr)
    Process::get().writings().count_failed(written_name(name));
}

// `native` calls native HDF5's H5Fcreate with the given file access list.
template <typename Call>
void* create_file(const char* name, unsigned flags, hid_t create_list, hid_t access_list,
                  Call native) {
  const auto info = HeldInfo::of(access_list);
  if (!info) {
    push_error("H5Fcreate", info.error());
    return nullptr;
  }
  if (is_refused("H5Fcreate", info->mistake())) return nullptr;
  if (name == nullptr || *name == '\0') return native(access_list);
  if (!has_default_driver(access_list)) {
    void* file = native(access_list);
    if (file != nullptr) count_file_of(chosen_driver(access_list));
    return file;
  }
  const auto create = [&](const CapturePlan* plan, restart::NativeReason why_native) {
    const CreateScope scope;
    void* file = call_with_driver(access_list, plan, native);
    const bool is_native = plan == nullptr || plan->is_native;
    if (file != nullptr && is_native) count_native_file(why_native);
    return file;
  };
  // A native file is needed in two cases: SWMR readers follow the file itself, and programs write a
  // user block without HDF5.
  if ((flags & (H5F_ACC_SWMR_WRITE | H5F_ACC_SWMR_READ)) != 0)
    return create(nullptr, restart::NativeReason::swmr);
  if (has_user_block(create_list)) return create(nullptr, restart::NativeReason::user_block);
  const Waiting waiting;
  const bool exclusive =
      (flags & H5F_ACC_TRUNC) == 0;  // native HDF5 takes EXCL if neither flag is given
  const auto decision = plan_capture(name, exclusive, info->settings());
  if (!decision) {
    push_error("H5Fcreate", decision.error());
    return nullptr;
  }
  return create(decision->plan ? &*decision->plan : nullptr, decision->why_native);
}

// `native` calls native HDF5's H5Fopen with the given file access list.
template <typename Call>
void* open_file(const char* name, unsigned flags, hid_t access_list, Call native) {
  if (is_refused("H5Fopen", environment_info().mistake)) return nullptr;
  const SearchScope search(!is_chosen(access_list));
  if (has_default_driver(access_list)) return call_with_driver(access_list, nullptr, native);
  if (name == nullptr || !is_stub_path(name)) return native(access_list);
  return open_stub_with(chosen_driver(access_list), name, flags, access_list, native);
}

}  // namespace

void* file_create(const char* name, unsigned flags, hid_t create_list, hid_t access_list,
                  hid_t transfer_list, void** request) {
  const ProgramOpen by_program;
  unsigned tries = 0;
  const auto native = [&](hid_t list) {
    ++tries;
    return native_class().file_cls.create(name, flags, create_list, list, transfer_list, request);
  };
  void* file = create_file(name, flags, create_list, access_list, native);
  count_if_failed(name, file, tries);
  return file;
}

void* file_open(const char* name, unsigned flags, hid_t access_list, hid_t transfer_list,
                void** request) {
  const ProgramOpen by_program;
  unsigned tries = 0;
  const auto native = [&](hid_t list) {
    ++tries;
    return native_class().file_cls.open(name, flags, list, transfer_list, request);
  };
  void* file = open_file(name, flags, access_list, native);
  if ((flags & H5F_ACC_RDWR) != 0) count_if_failed(name, file, tries);
  return file;
}

herr_t file_get(void* file, H5VL_file_get_args_t* arguments, hid_t transfer_list, void** request) {
  const herr_t status = native_class().file_cls.get(file, arguments, transfer_list, request);
  if (status < 0 || arguments->op_type != H5VL_FILE_GET_FAPL) return status;
  // Show the program the driver that it chose.
  if (has_our_driver(arguments->args.get_fapl.fapl_id))
    show_chosen_driver(arguments->args.get_fapl.fapl_id);
  return status;
}

herr_t file_specific(void* file, H5VL_file_specific_args_t* arguments, hid_t transfer_list,
                     void** request) {
  const ProgramOpen by_program;
  const auto native = [&] {
    return native_class().file_cls.specific(file, arguments, transfer_list, request);
  };
  const auto with_driver = [&](const char* name, hid_t& list_in_arguments) {
    if (!is_stub_for(name, list_in_arguments)) return native();
    const hid_t given = list_in_arguments;
    Id list = list_with_driver(given, nullptr, chosen_driver(given));
    if (list) list_in_arguments = list.get();
    const herr_t status = native();
    list_in_arguments = given;
    const KeptErrors kept;
    list = Id();
    return status;
  };
  if (arguments->op_type == H5VL_FILE_FLUSH) {
    const ProgramFlush flush;
    return native();
  }
  if (arguments->op_type == H5VL_FILE_IS_ACCESSIBLE) {
    auto& asked = arguments->args.is_accessible;
    // After a failed open by another connector, HDF5 asks every connector on its path. In that case
    // only stubs are ours.
    if (!is_for_us(asked.filename, asked.fapl_id)) {
      *asked.accessible = false;
      return 0;
    }
    return with_driver(asked.filename, asked.fapl_id);
  }
  if (arguments->op_type == H5VL_FILE_DELETE) {
    auto& asked = arguments->args.del;
    return with_driver(asked.filename, asked.fapl_id);
  }
  return native();
}

herr_t file_optional(void* file, H5VL_optional_args_t* arguments, hid_t transfer_list,
                     void** request) {
  // Readers in other processes follow a SWMR writer through the file itself.
  if (arguments->op_type == H5VL_NATIVE_FILE_START_SWMR_WRITE) {
    if (const auto done = tell_driver(file, FileWish::native); !done) {
      push_error("H5Fstart_swmr_write", done.error());
      return -1;
    }
  }
  if (arguments->op_type == H5VL_NATIVE_FILE_GET_VFD_HANDLE) {
    (void)tell_driver(file, FileWish::durable).has_value();
  }
  return native_class().file_cls.optional(file, arguments, transfer_list, request);
}

}  // namespace mcr::vol
