// SPDX-License-Identifier: BSD-3-Clause
// What a node knows of the residents of a job. Only root can read or write it.
//
//   /run/mcr-slurm/<host>.slurmd          locked (shared) by each slurmd of this host that runs the plugin
//   /run/mcr-slurm/<host>.<job>/          locked while a resident starts
//     groups                              the directories of the control groups, one per line (job_groups.hpp)
//     <16 hexadecimal digits>             a FIFO for each resident: the digits stand for its address,
//                                         the variables that decide where it listens
//
// A resident holds a lock on its FIFO for its whole life, so a later step sees that it serves. The FIFO is
// the resident's standard input. Nothing is ever written into it; the end of the job opens it for
// writing and closes it, which ends the resident's input and so tells it to end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aggregation/slurm/job_groups.hpp"
#include "aggregation/slurm/small_files.hpp"

namespace mcr::aggregation {

/// Called in slurmd when it loads the plugin: locks its mark for as long as slurmd lives. False on failure.
[[nodiscard]] bool mark_slurmd();
/// True if a slurmd of this host has loaded the plugin, so that the ends of jobs run it.
[[nodiscard]] bool does_slurmd_run_plugin();

class JobRecord {
 public:
  /// Opens the job's record, and makes it if it is missing.
  static std::optional<JobRecord> make(std::uint32_t job);
  /// Nothing if no resident was started for the job on this node.
  static std::optional<JobRecord> find(std::uint32_t job);

  /// Waits until no other step starts a resident of this job. False if that takes too long.
  bool lock(unsigned limit_ms) const;
  void unlock() const;

  /// Returns the FIFO for a resident with this address, locked. Nothing if a resident serves there, or if
  /// the job has too many residents.
  [[nodiscard]] std::optional<Descriptor> take_fifo(const std::string& address) const;
  [[nodiscard]] bool write_groups(const JobGroups& groups) const;

  [[nodiscard]] std::optional<JobGroups> groups() const;
  /// Tells all residents to end.
  void tell_to_end() const;
  /// Removes the record.
  void remove() const;

 private:
  JobRecord(std::string path, Descriptor directory)
      : path_(std::move(path)), directory_(std::move(directory)) {}
  static std::optional<JobRecord> open(std::uint32_t job, bool make);
  [[nodiscard]] std::vector<std::string> names() const;

  std::string path_;
  Descriptor directory_;
};

}  // namespace mcr::aggregation
