// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace mcr::aggregation {

/// What became of a part that was to be put back (put_back.hpp).
enum class PutBackEnd : std::uint8_t {
  done,
  /// The stub was removed, linked or replaced, may have been copied, or a newer part's stub waits to
  /// replace it (restart/stage/refused_stubs).
  not_possible,
  taken_back,  ///< a rank is writing the part again, or has removed it
};

}  // namespace mcr::aggregation
