// SPDX-License-Identifier: BSD-3-Clause
#include "vol/process/stub_handover.hpp"

#include <fcntl.h>

#include "restart/base/read_marks.hpp"
#include "restart/base/spare_numbers.hpp"
#include "restart/base/system.hpp"
#include "restart/stage/stub_socket.hpp"

namespace mcr::vol {

namespace {

/// At most this many stubs wait, because each one takes a descriptor from the program. A leader
/// listens a few hundredths of a second after the first create; programs rarely close more files in
/// that time.
constexpr std::size_t most_waiting = 32;

// False if the program has closed this descriptor with all others: its number may belong to the
// program's own file by now.
bool is_still_ours(const JobStage::WaitingStub& waiting) {
  const auto status = waiting.stub.status();
  return status && restart::FileIdentity(*status) == waiting.identity;
}

void forget_first(JobStage& stage) {
  if (!is_still_ours(stage.waiting_stubs.front())) (void)stage.waiting_stubs.front().stub.release();
  stage.waiting_stubs.pop_front();
}

// Asks the file system once per device. On NFS the leader searches for renamed stubs instead.
bool keeps_names_of_open_files(JobStage& stage, const restart::File& stub, std::uint64_t device) {
  const auto found = stage.keeps_names.find(device);
  if (found != stage.keeps_names.end()) return found->second;
  return stage.keeps_names[device] = restart::keeps_names_of_open_files(stub);
}

void keep(JobStage& stage, const restart::PartId& part, const restart::File& stub,
          const struct stat& status) {
  auto again = restart::File::open(AT_FDCWD, restart::link_path(stub.descriptor()), O_PATH);
  if (!again || restart::are_numbers_few(again->descriptor())) return;
  if (stage.waiting_stubs.size() == most_waiting) forget_first(stage);
  stage.waiting_stubs.push_back(
      {part, *std::move(again), restart::FileIdentity(status), restart::modified_ns(status)});
}

}  // namespace

void hand_over_stub(JobStage& stage, const restart::PartId& part, const restart::File& stub) {
  if (!Process::is_owner() || !stub.is_open()) return;
  const auto status = stub.status();
  if (!status || keeps_names_of_open_files(stage, stub, status->st_dev)) return;
  hand_over_waiting_stubs(stage);
  const bool sent = restart::send_stub(stage.directory.descriptor(), part, stub.descriptor(),
                                       restart::modified_ns(*status))
                        .has_value();
  if (!sent) keep(stage, part, stub, *status);
}

void hand_over_waiting_stubs(JobStage& stage) {
  while (!stage.waiting_stubs.empty()) {
    const JobStage::WaitingStub& first = stage.waiting_stubs.front();
    if (is_still_ours(first) && !restart::send_stub(stage.directory.descriptor(), first.part,
                                                    first.stub.descriptor(), first.modified_ns)) {
      return;
    }
    forget_first(stage);
  }
}

void forget_waiting_stubs(JobStage& stage) {
  while (!stage.waiting_stubs.empty()) forget_first(stage);
}

}  // namespace mcr::vol
