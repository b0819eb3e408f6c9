// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/pipeline/stream_copy.hpp"

#include <algorithm>
#include <mutex>
#include <optional>

#include "aggregation/pipeline/write_streams.hpp"

namespace mcr::aggregation {
namespace {

constexpr std::uint64_t piece_bytes = 4U << 20;

}  // namespace

Result<void> copy_in_streams(const restart::File& from, const restart::File& to,
                             std::uint64_t bytes, unsigned streams) {
  std::mutex mutex;
  std::optional<Error> first_error;
  const auto copy = [&](std::uint64_t begin) -> Result<void> {
    Bytes piece(std::min(piece_bytes, bytes - begin));
    MCR_TRY(from.read_at(begin, piece));
    MCR_TRY(to.write_at(begin, piece));
    to.start_writing_back(begin, piece.size());
    return {};
  };
  {
    WriteStreams pool(streams, streams);
    for (std::uint64_t begin = 0; begin < bytes; begin += piece_bytes) {
      pool.add([&, begin] {
        {
          const std::lock_guard lock(mutex);
          if (first_error) return;
        }
        const auto done = copy(begin);
        const std::lock_guard lock(mutex);
        if (!done && !first_error) first_error = done.error();
      });
    }
  }
  if (first_error) return *first_error;
  return {};
}

}  // namespace mcr::aggregation
