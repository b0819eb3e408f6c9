// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/ordered_int/ordered_int_codec.hpp"

#include <cstring>

#include "codecs/base/word_transform.hpp"
#include "codecs/ordered_int/ordered_int.hpp"

namespace mcr::codecs {
namespace {

void integers(const ElementType& type, const std::byte* from, std::size_t count, std::byte* to) {
  if (type.kind == ElementKind::signed_integer) {
    ordered_signed(type.size, from, count, to);
  } else if (count != 0) {
    std::memcpy(to, from, count * type.size);
  }
}

struct OrderedInt {
  static constexpr const char* name = "ordered_int";
  static Result<ElementKind> output(const ElementType&) { return ElementKind::unsigned_integer; }
  static void encode(const ElementType& type, const std::byte* from, std::size_t count,
                     std::byte* to) {
    if (type.kind == ElementKind::floating) {
      ordered_float_encode(type.size, from, count, to);
    } else {
      integers(type, from, count, to);
    }
  }
  static void decode(const ElementType& type, const std::byte* from, std::size_t count,
                     std::byte* to) {
    if (type.kind == ElementKind::floating) {
      ordered_float_decode(type.size, from, count, to);
    } else {
      integers(type, from, count, to);
    }
  }
};

constinit const WordTransform<OrderedInt> codec;

}  // namespace

const Codec& ordered_int_codec() { return codec; }

}  // namespace mcr::codecs
