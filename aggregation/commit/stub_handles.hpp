// SPDX-License-Identifier: BSD-3-Clause
// Where the stubs of parts in the stage are now. Programs rename a checkpoint's directory
// (`step.tmp` to `step`), move files out of it, or remove it, while its parts still wait for their
// commit. A descriptor of the stub follows all of that. Each rank sends one before H5Fclose returns
// (restart/stage/stub_socket); where none came, the stub is opened at its path when the part is first seen.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "restart/base/attributes.hpp"
#include "restart/base/file.hpp"
#include "restart/base/file_identity.hpp"
#include "restart/format/container_name.hpp"
#include "restart/format/journal.hpp"
#include "restart/stage/stage.hpp"
#include "restart/stage/stub_socket.hpp"

namespace mcr::aggregation {

/// Thread-safe: the leader's loop receives and remembers, the drain's thread asks.
class StubHandles {
 public:
  /// Lets ranks send descriptors from now on. The caller holds the leader's lock; `directory` must
  /// outlive this object.
  Result<void> listen(const restart::LaunchDirectory& directory);
  /// Becomes readable when a rank sends a descriptor; -1 where listen() was not called or failed.
  [[nodiscard]] int descriptor() const;
  /// Takes in the descriptors that ranks have sent. A writer sends its stub's descriptor before it
  /// gives the part's lock back.
  void receive();

  /// If no rank has sent a descriptor, opens the file at the part's path and keeps it if it is this
  /// part's stub or will become it.
  void remember(const restart::PartBegin& begin);
  void forget(const restart::PartId& part);
  /// Returns the stub itself, and forgets it. The file is not open if there is no descriptor of the
  /// stub.
  restart::File take(const restart::PartId& part);

  enum class Fate {
    unknown,    ///< no descriptor
    removed,    ///< the stub has no name any more: removed, or replaced by another file
    present,    ///< at `path`
    elsewhere,  ///< it has a name, but not the one by which it was opened
  };
  struct Found {
    Fate fate = Fate::unknown;
    std::string path;          ///< absolute; of a removed stub the last one, if known
    std::uint64_t device = 0;  ///< of the stub, if it has a descriptor
    std::uint64_t inode = 0;
  };
  [[nodiscard]] Found find(const restart::PartId& part) const;
  /// True if a stub of any set was unlinked from that directory within the last `period`, and no
  /// file took its name. Looks at stubs known here, at most 256 of them, and at those forgotten
  /// last.
  [[nodiscard]] bool was_removed_from(const std::string& directory,
                                      std::chrono::milliseconds period) const;
  /// Returns the access rights of the stub, wherever it is now; of a removed stub those that it had
  /// at last. Returns nothing if it is not open.
  [[nodiscard]] std::optional<restart::Access> access(const restart::PartId& part) const;

  /// For a removed stub: false only if no process has read the stub since its rank wrote it
  /// (read_marks.hpp), so that it was certainly not copied.
  [[nodiscard]] bool may_have_been_copied(const restart::PartId& part);

 private:
  /// The stub itself. If descriptors are few, or the file system keeps a removed file's name while
  /// it is open (NFS): its directory, shared by all stubs in it, and its name there.
  struct Handle {
    restart::File stub;
    std::shared_ptr<restart::File> directory;
    mutable std::string name;        ///< follows renames within the directory
    restart::FileIdentity identity;  ///< of the stub
    bool was_never_read = false;     ///< kept, because the check itself reads the stub
  };
  static constexpr std::size_t most_stubs = 4096;

  static constexpr std::size_t most_former = 64;

  void hold(const restart::PartId& part, restart::File stub);
  void keep_former(const restart::File& stub);
  void forget_what_left_the_stage();
  [[nodiscard]] std::shared_ptr<restart::File> directory_of(const std::string& path);

  mutable std::mutex mutex_;
  const restart::LaunchDirectory* launch_ = nullptr;
  std::optional<restart::StubSocket> socket_;
  std::map<restart::PartId, Handle> stubs_;
  std::deque<restart::File>
      former_;  ///< stubs of forgotten parts: a later removal can still be noticed
  std::map<restart::FileIdentity, std::weak_ptr<restart::File>> directories_;
  std::size_t look_again_at_ = most_stubs;  ///< with this many, parts that left are forgotten
};

}  // namespace mcr::aggregation
