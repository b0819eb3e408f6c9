// SPDX-License-Identifier: BSD-3-Clause
// Binary arithmetic coding with adaptive probabilities. spec.md, "Range coder".
#pragma once

#include <cstdint>

#include "codecs/base/bytes.hpp"

namespace mcr::codecs::words {

/// The probability of a 1, in units of 1/65536. It moves towards each coded bit, faster at first.
class Bit {
 public:
  [[nodiscard]] std::uint32_t probability() const { return probability_; }
  void learn(unsigned bit) {
    const int rate = seen_ < 5 ? seen_ + 1 : 5;
    if (seen_ < 5) ++seen_;
    const int target = bit != 0 ? 65535 : 0;
    const int now = probability_;
    const int next = now + (target - now) / (1 << rate);
    probability_ = static_cast<std::uint16_t>(next < 32 ? 32 : next > 65504 ? 65504 : next);
  }

 private:
  std::uint16_t probability_ = 32768;
  std::uint16_t seen_ = 0;
};

/// The interval is [low, high], both inclusive. A byte is written when both ends agree on it.
class RangeEncoder {
 public:
  explicit RangeEncoder(Bytes& out) : out_(out) {}
  void encode(Bit& model, unsigned bit) {
    const std::uint32_t middle = split(model);
    if (bit != 0) {
      high_ = middle;
    } else {
      low_ = middle + 1;
    }
    model.learn(bit);
    while (((low_ ^ high_) >> 24) == 0) {
      out_.push_back(static_cast<std::byte>(high_ >> 24));
      low_ <<= 8;
      high_ = high_ << 8 | 255U;
    }
  }
  void finish() {
    for (int i = 0; i < 4; ++i) {
      out_.push_back(static_cast<std::byte>(low_ >> 24));
      low_ <<= 8;
    }
  }

 private:
  [[nodiscard]] std::uint32_t split(const Bit& model) const {
    const std::uint64_t range = high_ - low_;
    return low_ + static_cast<std::uint32_t>(range * model.probability() >> 16);
  }
  Bytes& out_;
  std::uint32_t low_ = 0;
  std::uint32_t high_ = 0xffffffff;
};

/// Reads zeros beyond the end. overrun() is true if that has happened.
class RangeDecoder {
 public:
  RangeDecoder() = default;
  explicit RangeDecoder(ByteSpan bytes) : bytes_(bytes) {
    for (int i = 0; i < 4; ++i) value_ = value_ << 8 | next();
  }
  unsigned decode(Bit& model) {
    const std::uint64_t range = high_ - low_;
    const std::uint32_t middle =
        low_ + static_cast<std::uint32_t>(range * model.probability() >> 16);
    const unsigned bit = value_ <= middle ? 1 : 0;
    if (bit != 0) {
      high_ = middle;
    } else {
      low_ = middle + 1;
    }
    model.learn(bit);
    while (((low_ ^ high_) >> 24) == 0) {
      low_ <<= 8;
      high_ = high_ << 8 | 255U;
      value_ = value_ << 8 | next();
    }
    return bit;
  }
  [[nodiscard]] bool overrun() const { return at_ > bytes_.size(); }
  [[nodiscard]] bool ended() const { return at_ == bytes_.size(); }

 private:
  std::uint32_t next() {
    const std::size_t at = at_++;
    return at < bytes_.size() ? std::to_integer<std::uint32_t>(bytes_[at]) : 0;
  }
  ByteSpan bytes_;
  std::size_t at_ = 0;
  std::uint32_t low_ = 0;
  std::uint32_t high_ = 0xffffffff;
  std::uint32_t value_ = 0;
};

/// Codes a number of `bits` bits, highest bit first, each in the context of the bits before it.
template <unsigned bits>
class BitTree {
 public:
  void encode(RangeEncoder& out, unsigned value) {
    unsigned node = 1;
    for (unsigned i = bits; i-- > 0;) {
      const unsigned bit = (value >> i) & 1U;
      out.encode(nodes_[node], bit);
      node = node * 2 + bit;
    }
  }
  unsigned decode(RangeDecoder& in) {
    unsigned node = 1;
    for (unsigned i = 0; i < bits; ++i) node = node * 2 + in.decode(nodes_[node]);
    return node - (1U << bits);
  }

 private:
  Bit nodes_[1U << bits];
};

}  // namespace mcr::codecs::words
