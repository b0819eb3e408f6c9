// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stage/refused_stubs.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "codecs/base/bytes.hpp"
#include "restart/base/name_text.hpp"
#include "restart/stage/stage_files.hpp"

namespace mcr::restart {
namespace {

using namespace stage_files;

/// Turns of 2 ms (pause_briefly).
constexpr int turns_long_enough = 5000;

// safe_name() ends with a checksum of the path, because no path is free of slashes.
std::string name_for(const std::string& path) { return safe_name(path, 60); }

}  // namespace

Result<RefusedStubs> RefusedStubs::lock(const LaunchDirectory& directory, Wait wait) {
  File place = MCR_TRY(open_directory(directory.descriptor(), refused_directory));
  const int most_turns = wait == Wait::briefly ? turns : turns_long_enough;
  if (MCR_TRY(lock_in_turns(place, LockKind::exclusive, most_turns)))
    return RefusedStubs(std::move(place));
  return Error{Cause::system,
               directory.path() + "/" + refused_directory + " is locked by another process",
               EWOULDBLOCK};
}

Result<void> RefusedStubs::add(const PartBegin& begin) const {
  Bytes content;
  Writer writer(content);
  writer.bytes(std::as_bytes(std::span(begin.part.bytes)));
  writer.u64(begin.sequence);
  const File file = MCR_TRY(File::open(directory_.descriptor(), name_for(begin.path),
                                       O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW));
  return file.write_at(0, content);
}

bool RefusedStubs::keeps(const PartBegin& begin, const std::string& path) const {
  const auto file = File::open(directory_.descriptor(), name_for(path), O_RDONLY | O_NOFOLLOW);
  PartId part;
  Bytes content(part.bytes.size() + sizeof(std::uint64_t));
  // A shorter file is that of a rank that died here, before its journal named the older file.
  if (!file || !file->read_at(0, content)) return false;
  Reader reader(content);
  const auto id = reader.bytes(part.bytes.size());
  const auto sequence = reader.u64();
  if (!id || !sequence) return false;
  std::copy(id->begin(), id->end(), std::as_writable_bytes(std::span(part.bytes)).begin());
  if (part == begin.part) return false;
  return path != begin.path || *sequence >= begin.sequence;
}

}  // namespace mcr::restart
