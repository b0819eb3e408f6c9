// SPDX-License-Identifier: BSD-3-Clause
#include "vol/stub_handover.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include "restart/base/spare_numbers.hpp"
#include "restart/stub_socket.hpp"

namespace mcr::vol {

namespace {

/// A leader is there a few hundredths of a second after the first create; more steps than these are
/// rarely closed meanwhile, and each takes a descriptor of the program's.
constexpr std::size_t most_waiting = 32;

// False where a program that closes all descriptors has closed this one: its number may be the
// program's own file by now.
bool is_still_ours(const JobStage::WaitingStub& waiting) {
  const auto identity = identity_of(waiting.stub.descriptor(), waiting.stub.name());
  return identity && *identity == waiting.identity;
}

void forget_first(JobStage& stage) {
  if (!is_still_ours(stage.waiting_stubs.front())) (void)stage.waiting_stubs.front().stub.release();
  stage.waiting_stubs.pop_front();
}

// On NFS a file that is removed while somebody has it open keeps a name (.nfs…), and its directory cannot
// be removed: there the leader looks for renamed stubs.
bool keeps_names_of_open_files(const StagedPart& part) {
  auto& known = part.stage->keeps_names;
  const auto found = known.find(part.begin.directory_device);
  if (found != known.end()) return found->second;
  struct statfs status {};
  const bool is_nfs =
      fstatfs(part.at_path.descriptor(), &status) != 0 || status.f_type == NFS_SUPER_MAGIC;
  return known[part.begin.directory_device] = is_nfs;
}

void keep(const StagedPart& part) {
  auto& waiting = part.stage->waiting_stubs;
  auto stub = restart::File::open(AT_FDCWD, restart::link_path(part.at_path.descriptor()), O_PATH);
  if (!stub || restart::are_numbers_few(stub->descriptor())) return;
  const auto identity = identity_of(stub->descriptor(), part.begin.path);
  if (!identity) return;
  if (waiting.size() == most_waiting) forget_first(*part.stage);
  waiting.push_back({part.begin.part, *std::move(stub), *identity});
}

}  // namespace

void hand_over_stub(const StagedPart& part) {
  if (!Process::is_owner() || !part.at_path.is_open() || keeps_names_of_open_files(part)) return;
  hand_over_waiting_stubs(*part.stage);
  const bool sent = restart::send_stub(part.stage->directory.descriptor(), part.begin.part,
                                       part.at_path.descriptor())
                        .has_value();
  if (!sent) keep(part);
}

void hand_over_waiting_stubs(JobStage& stage) {
  while (!stage.waiting_stubs.empty()) {
    const JobStage::WaitingStub& first = stage.waiting_stubs.front();
    if (is_still_ours(first) &&
        !restart::send_stub(stage.directory.descriptor(), first.part, first.stub.descriptor())) {
      return;
    }
    forget_first(stage);
  }
}

void forget_waiting_stubs(JobStage& stage) {
  while (!stage.waiting_stubs.empty()) forget_first(stage);
}

}  // namespace mcr::vol
