// SPDX-License-Identifier: BSD-3-Clause
#include "vol/capture/spill.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "restart/base/attributes.hpp"
#include "restart/base/durable_replace.hpp"
#include "restart/base/log.hpp"
#include "restart/base/part_id.hpp"

namespace mcr::vol {

namespace {

constexpr std::size_t buffer_bytes = 1 << 20;

template <typename Read>
Result<void> copy(Read read, const restart::File& to, std::uint64_t begin, std::uint64_t end) {
  Bytes buffer(static_cast<std::size_t>(std::min<std::uint64_t>(end - begin, buffer_bytes)));
  for (std::uint64_t at = begin; at < end;) {
    const auto piece = MutableByteSpan(buffer).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(end - at, buffer.size())));
    MCR_TRY(read(at, piece));
    MCR_TRY(to.write_at(at, piece));
    at += piece.size();
  }
  return {};
}

void warn_if_not_kept(const restart::File& old, const Result<void>& kept) {
  if (kept) return;
  restart::log_warning_once(
      "attributes", old.name() + " may have lost its mode or attributes: " + kept.error().message);
}

}  // namespace

Result<void> copy_bytes(const restart::File& from, const restart::File& to, std::uint64_t begin,
                        std::uint64_t end) {
  return copy([&](std::uint64_t at, MutableByteSpan out) { return from.read_at(at, out); }, to,
              begin, end);
}

Result<void> copy_source(restart::PartSource& source, const restart::File& to) {
  return copy([&](std::uint64_t at, MutableByteSpan out) { return source.read_at(at, out); }, to, 0,
              source.size());
}

void keep_attributes(const restart::File& old, const restart::File& now) {
  warn_if_not_kept(old, restart::copy_attributes(old, now));
}

void keep_attributes(const restart::File& old, const restart::File& now,
                     const restart::Access& access) {
  warn_if_not_kept(old, restart::copy_attributes(old, now, access));
}

Result<std::pair<restart::File, std::string>> temporary_in(const restart::File& directory,
                                                           const std::string& word) {
  constexpr int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW;
  std::string name = std::string(restart::temporary_prefix) + word;
  auto file = restart::File::open(directory.descriptor(), name, flags, 0600);
  if (!file && file.error().system_error == EEXIST) {
    // Another process's file has that name: leave it, and use a random name.
    name = std::string(restart::temporary_prefix) + MCR_TRY(restart::PartId::random()).text();
    file = restart::File::open(directory.descriptor(), name, flags, 0600);
  }
  if (!file) return file.error();
  return std::pair(*std::move(file), std::move(name));
}

}  // namespace mcr::vol
