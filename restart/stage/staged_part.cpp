// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stage/staged_part.hpp"

#include <cerrno>
#include <ctime>

namespace mcr::restart {
namespace {

/// A writer publishes a part first, and releases the lock on its bytes right after. A reader in
/// between waits up to turns * pause_ns.
constexpr int turns = 100;
constexpr long pause_ns = 5'000'000;

class StagedPartSource final : public PartSource {
 public:
  StagedPartSource(File bytes, std::uint64_t size) : bytes_(std::move(bytes)), size_(size) {}

  [[nodiscard]] std::uint64_t size() const override { return size_; }

  Result<void> read_at(std::uint64_t offset, MutableByteSpan out) override {
    if (offset > size_ || out.size() > size_ - offset) {
      return Error{Cause::usage, bytes_.name() + ": read of " + std::to_string(out.size()) +
                                     " bytes from " + std::to_string(offset) +
                                     " on ends behind the part's end at " + std::to_string(size_)};
    }
    return bytes_.read_at(offset, out);
  }

 private:
  File bytes_;
  std::uint64_t size_;
};

bool has_gone(const Error& error) { return error.system_error == ENOENT; }

}  // namespace

Result<std::unique_ptr<PartSource>> open_staged_part(const LaunchDirectory& directory,
                                                     const PartId& part, PartBegin* begin) {
  using State = LaunchDirectory::State;
  for (int turn = 0; turn < turns; ++turn) {
    if (!directory.is_in(State::published, part) && !directory.is_in(State::committed, part)) break;
    auto bytes = directory.open_bytes(part);
    if (!bytes) {
      if (has_gone(bytes.error())) break;
      if (bytes.error().system_error != EWOULDBLOCK) return bytes.error();
      const timespec pause{.tv_sec = 0, .tv_nsec = pause_ns};
      ::nanosleep(&pause, nullptr);
      continue;
    }
    // Read the journal under the lock on the bytes, so that it belongs to these bytes.
    for (const State state : {State::committed, State::published, State::committed}) {
      auto journal = directory.journal(state, part);
      if (!journal) {
        if (has_gone(journal.error())) continue;
        return journal.error();
      }
      if (!journal->publish || journal->publish->native) break;
      const std::uint64_t size = journal->publish->size;
      if (MCR_TRY(bytes->size()) < size) {
        return Error{Cause::damaged, bytes->name() + " in the stage is shorter than was published"};
      }
      if (begin != nullptr) *begin = journal->begin;
      return std::unique_ptr<PartSource>(
          std::make_unique<StagedPartSource>(std::move(*bytes), size));
    }
    break;
  }
  return std::unique_ptr<PartSource>();
}

}  // namespace mcr::restart
