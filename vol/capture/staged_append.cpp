// SPDX-License-Identifier: BSD-3-Clause
// Files that are appended to: kept open long after their first flush, or opened for writing again
// and again. With appended=native such a file and its pattern go native, so that the file is never
// drained piece by piece (docs/design/capture.md). The time is checked in the program's own writes
// and flushes, not by a thread.
#include "restart/format/masked_name.hpp"
#include "restart/settings/choices.hpp"
#include "vol/capture/staged_file.hpp"
#include "vol/process/job_warnings.hpp"

namespace mcr::vol {

void StagedFile::note_flush() {
  if (native_from_ns_ != 0 || restart::appended_of(*part_.settings) != restart::Appended::native)
    return;
  native_from_ns_ = monotonic_ns() + part_.settings->milliseconds("open_max") * 1'000'000;
}

bool StagedFile::is_appended() const {
  return native_from_ns_ != 0 && !native_ && monotonic_ns() >= native_from_ns_;
}

Result<void> StagedFile::go_on_as_appended() {
  const restart::LaunchDirectory& directory = part_.stage->directory;
  bool is_first = false;
  for (const std::string& name : part_.begin.masked_names) {
    const std::string pattern = restart::pattern_of(name);
    is_first |= !directory.is_marked_native(pattern);
    (void)directory.mark_native(pattern).has_value();
  }
  if (is_first) {
    warn_once_in_job(
        part_.stage->launcher, "files are appended to",
        part_.begin.path +
            " is appended to, so files whose names differ from its name only in "
            "numbers are written natively from now on; appended=capture captures them");
  }
  MCR_TRY(spill(restart::NativeReason::appended));
  // The flushed data must lie at the path, as native HDF5 would have left it.
  return native_from_ns_ != 0 ? take_path() : Result<void>();
}

}  // namespace mcr::vol
