// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/copy_data.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "codecs/base/bytes.hpp"

namespace mcr::restart {
namespace {

constexpr std::uint64_t buffer_bytes = 1U << 20;

}  // namespace

Result<void> copy_data(const File& from, const File& to, std::uint64_t begin, std::uint64_t end) {
  Bytes buffer(std::min(buffer_bytes, end));
  for (std::uint64_t place = begin; place < end;) {
    const off_t data = ::lseek(from.descriptor(), static_cast<off_t>(place), SEEK_DATA);
    if (data < 0 && errno == ENXIO) break;
    // On a file system without SEEK_DATA, holes are copied as zeros.
    if (data > static_cast<off_t>(place)) place = static_cast<std::uint64_t>(data);
    if (place >= end) break;
    const auto piece =
        MutableByteSpan(buffer).first(std::min<std::uint64_t>(buffer.size(), end - place));
    MCR_TRY(from.read_at(place, piece));
    MCR_TRY(to.write_at(place, piece));
    place += piece.size();
  }
  return to.truncate(end);
}

}  // namespace mcr::restart
