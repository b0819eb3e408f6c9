// SPDX-License-Identifier: BSD-3-Clause
// The HDF5 filter's values in a dataset's creation properties.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "codecs/base/result.hpp"
#include "restart/format/hdf5_numbers.hpp"

namespace mcr::restart {

/// The filter's client data values ("cd_values").
struct FilterParameters {
  static constexpr std::uint32_t current_version = 1;
  static constexpr std::size_t value_count = 7;

  std::uint32_t chunk_bytes = 0;  ///< raw bytes of a chunk; a frame may hold fewer, zeros follow it
  std::uint32_t element_bytes =
      1;  ///< size of the dataset's type, for chunks that the filter encodes
  std::array<std::uint32_t, 4> container{};  ///< UUID of the container; zeros if no chunk is a link

  void set_container(const std::array<std::uint8_t, 16>& uuid) {
    for (std::size_t i = 0; i < 16; ++i) {
      container[i / 4] |= std::uint32_t{uuid[i]} << (i % 4 * 8);
    }
  }
  [[nodiscard]] std::array<std::uint8_t, 16> container_uuid() const {
    std::array<std::uint8_t, 16> uuid{};
    for (std::size_t i = 0; i < 16; ++i) {
      uuid[i] = static_cast<std::uint8_t>(container[i / 4] >> (i % 4 * 8));
    }
    return uuid;
  }

  /// Returns the values in the order of cd_values: version, chunk bytes, element bytes, container.
  [[nodiscard]] std::array<unsigned, value_count> values() const {
    return {current_version, chunk_bytes,  element_bytes, container[0],
            container[1],    container[2], container[3]};
  }

  /// Reads cd_values, which may come from any file. An empty list means a chunk of unknown size.
  /// Values beyond the known ones are ignored: a newer version changes the first value.
  static Result<FilterParameters> from(std::span<const unsigned> values) {
    FilterParameters parameters;
    if (values.empty()) return parameters;
    if (values[0] != current_version) {
      return Error{Cause::unsupported, "filter parameters of version " + std::to_string(values[0]) +
                                           "; this mcr knows " + std::to_string(current_version)};
    }
    if (values.size() > 1) parameters.chunk_bytes = values[1];
    if (values.size() > 2 && values[2] != 0) parameters.element_bytes = values[2];
    if (values.size() >= value_count) {
      for (std::size_t i = 0; i < 4; ++i) parameters.container[i] = values[3 + i];
    }
    return parameters;
  }
};

}  // namespace mcr::restart
