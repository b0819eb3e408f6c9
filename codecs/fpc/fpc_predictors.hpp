// SPDX-License-Identifier: BSD-3-Clause
// The two predictors, which encoder and decoder share. FCM looks up the value that last followed
// the same history of values. DFCM looks up the difference that last followed the same history of
// differences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mcr::codecs {

class FpcPredictors {
 public:
  FpcPredictors(std::span<std::uint64_t> tables, unsigned table_log)
      : values_(tables.data()),
        differences_(tables.data() + (std::size_t{1} << table_log)),
        mask_((std::uint64_t{1} << table_log) - 1) {}

  [[nodiscard]] std::uint64_t fcm() const { return values_[value_hash_]; }
  [[nodiscard]] std::uint64_t dfcm() const { return differences_[difference_hash_] + last_; }

  void learn(std::uint64_t value) {
    values_[value_hash_] = value;
    value_hash_ = ((value_hash_ << 6) ^ (value >> 48)) & mask_;
    const std::uint64_t difference = value - last_;
    differences_[difference_hash_] = difference;
    difference_hash_ = ((difference_hash_ << 2) ^ (difference >> 40)) & mask_;
    last_ = value;
  }

 private:
  std::uint64_t* values_;
  std::uint64_t* differences_;
  std::uint64_t mask_;
  std::uint64_t value_hash_ = 0;
  std::uint64_t difference_hash_ = 0;
  std::uint64_t last_ = 0;
};

// Three bits tell how many leading bytes of a residual are zero. As in the paper, the rarest case,
// four zero bytes, has no code: the residual is then stored as if it had three.
constexpr unsigned fpc_zero_bytes(unsigned code) { return code < 4 ? code : code + 1; }
constexpr unsigned fpc_code(unsigned zero_bytes) {
  return zero_bytes < 4 ? zero_bytes : zero_bytes == 4 ? 3 : zero_bytes - 1;
}

}  // namespace mcr::codecs
