// SPDX-License-Identifier: BSD-3-Clause
// Where the stubs of parts in the stage are now. Programs rename a checkpoint's directory
// (`step.tmp` to `step`), move files out of it, or remove it, while its parts still wait for their
// commit. A descriptor of the stub stays valid through all of these changes. Each rank sends a
// descriptor before H5Fclose returns (restart/stage/stub_socket). If none came, the leader opens
// the stub at its path when it first sees the part.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "restart/base/file.hpp"
#include "restart/base/file_identity.hpp"
#include "restart/format/container_name.hpp"
#include "restart/format/journal.hpp"
#include "restart/stage/stage.hpp"
#include "restart/stage/stub_socket.hpp"

namespace mcr::aggregation {

/// Thread-safe: the leader's loop receives and remembers stubs, and the drain's thread looks them
/// up.
class StubHandles {
 public:
  /// Lets ranks send descriptors from now on. The caller holds the leader's lock; `directory` must
  /// outlive this object.
  Result<void> listen(const restart::LaunchDirectory& directory);
  /// Becomes readable when a rank sends a descriptor; -1 if listen() was not called or failed.
  [[nodiscard]] int descriptor() const;
  /// Receives the descriptors that ranks have sent. A writer sends its stub's descriptor before it
  /// releases the part's lock. Also closes the stubs of forgotten parts that were removed.
  void receive();

  /// If no rank has sent a descriptor of this part's stub, opens the file at the part's path. Keeps
  /// the descriptor if the file is the stub or will become the stub.
  void remember(const restart::PartBegin& begin);
  /// As remember(), for a stub that a search found at `path`: the program renamed it before its rank could
  /// send a descriptor. A copy of the stub is not kept.
  void remember_found(const restart::PartBegin& begin, const std::string& path);
  void forget(const restart::PartId& part);
  /// Returns the stub itself, and forgets it. The file is not open if there is no descriptor of the
  /// stub.
  restart::File take(const restart::PartId& part);

  /// Returns a second descriptor (O_PATH) of the part's stub. The result is not open if no descriptor of
  /// the stub is held, or if the file was still empty when it was opened: the close may then have put the
  /// stub into another file.
  [[nodiscard]] restart::File open_again(const restart::PartId& part) const;

  enum class Fate {
    unknown,    ///< no descriptor
    removed,    ///< the stub has no name any more: removed, or replaced by another file
    present,    ///< at `path`
    elsewhere,  ///< it has a name, but no longer the one by which it was opened
  };
  struct Found {
    Fate fate = Fate::unknown;
    std::string path;          ///< absolute; for a removed stub its last path, if known
    std::uint64_t device = 0;  ///< of the stub, if it has a descriptor
    std::uint64_t inode = 0;
    std::uint64_t removed_ns = 0;  ///< when a removed stub lost its last name
  };
  [[nodiscard]] Found find(const restart::PartId& part) const;
  /// How a stub lost its last name.
  struct Removal {
    std::string path;  ///< the last name, absolute
    std::uint64_t time_ns = 0;
  };
  /// True if a stub of any set was unlinked from that directory within the last `period`, and no
  /// file took its name. Looks at no more than 256 of the stubs held here, and at those that were
  /// forgotten last.
  [[nodiscard]] bool was_removed_from(const std::string& directory,
                                      std::chrono::milliseconds period) const;
  /// Opens the stub, wherever it is now, even if it was removed. The result is not open if no descriptor of the stub is
  /// held, or if the stub cannot be read.
  [[nodiscard]] restart::File open_to_read(const restart::PartId& part) const;

  /// For a removed stub. False only if the stub was certainly not copied, because no process has read or
  /// written it since its rank wrote it (restart/base/read_marks.hpp): a write hides earlier reads.
  [[nodiscard]] bool may_have_been_copied(const restart::PartId& part);

 private:
  /// Holds the stub itself, or its name and its directory, which all stubs in the directory share.
  /// The second form is used if descriptors are few, or if the file system keeps a removed file's
  /// name while the file is open (NFS).
  struct Handle {
    restart::File stub;
    std::shared_ptr<restart::File> directory;
    mutable std::string name;        ///< follows renames within the directory
    restart::FileIdentity identity;  ///< of the stub
    /// Modification time of the stub that its rank wrote; nothing if the file was still empty.
    std::optional<std::uint64_t> stub_written_ns;
    bool was_never_read = false;  ///< result of the check, which itself reads the stub
  };
  static constexpr std::size_t most_stubs = 4096;

  static constexpr std::size_t most_former = 64;

  void hold(const restart::PartId& part, restart::File stub,
            std::optional<std::uint64_t> stub_written_ns);
  void keep_former(restart::File stub);
  void release_removed();  ///< closes former stubs that were removed, and keeps their Removal only
  void forget_what_left_the_stage();
  [[nodiscard]] std::shared_ptr<restart::File> directory_of(const std::string& path);

  mutable std::mutex mutex_;
  const restart::LaunchDirectory* launch_ = nullptr;
  std::optional<restart::StubSocket> socket_;
  std::map<restart::PartId, Handle> stubs_;
  /// A stub of a forgotten part, so that its removal is still noticed. Once it is removed, only the
  /// removal is kept, because an open file keeps its inode and its blocks.
  struct Former {
    restart::File stub;
    Removal removal;  ///< if `stub` is not open
  };
  std::deque<Former> former_;
  std::map<restart::FileIdentity, std::weak_ptr<restart::File>> directories_;
  /// Number of stubs at which parts that left the stage are forgotten.
  std::size_t look_again_at_ = most_stubs;
};

}  // namespace mcr::aggregation
