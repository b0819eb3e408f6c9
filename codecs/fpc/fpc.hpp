// SPDX-License-Identifier: BSD-3-Clause
// FPC codes doubles with two predictors that learn from hashed history. It stores the difference to
// the better prediction without its leading zero bytes. M. Burtscher, P. Ratanaworabhan: "High
// Throughput Compression of Double-Precision Floating-Point Data", DCC 2007. Written from the
// paper, for the `paper` profile and for comparison.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mcr::codecs {

/// Returns the size of the tables of both predictors. Each has `1 << table_log` words; one follows
/// the other. The tables must be zero at the start.
constexpr std::size_t fpc_table_words(unsigned table_log) { return std::size_t{2} << table_log; }

/// Returns the most bytes that `count` values can take.
constexpr std::size_t fpc_bound(std::size_t count) { return (count + 1) / 2 + count * 8; }

/// Encodes `count` 64-bit values at `values` (any alignment, this machine's byte order) into `out`
/// (fpc_bound long). Returns how many bytes it wrote.
std::size_t fpc_encode(const std::byte* values, std::size_t count, unsigned table_log,
                       std::span<std::uint64_t> tables, std::byte* out);

/// The inverse. Returns false, with undefined `values`, if `stored` is not exactly the code of
/// `count` values.
bool fpc_decode(std::span<const std::byte> stored, std::size_t count, unsigned table_log,
                std::span<std::uint64_t> tables, std::byte* values);

}  // namespace mcr::codecs
