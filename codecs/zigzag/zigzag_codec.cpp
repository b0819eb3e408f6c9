// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/zigzag/zigzag_codec.hpp"

#include "codecs/base/word_transform.hpp"
#include "codecs/zigzag/zigzag.hpp"

namespace mcr::codecs {
namespace {

struct Zigzag {
  static constexpr const char* name = "zigzag";
  static Result<ElementKind> output(const ElementType& type) {
    if (type.kind == ElementKind::floating) {
      return Error{Cause::usage, "zigzag: takes integers; put ordered_int before it"};
    }
    return ElementKind::unsigned_integer;
  }
  static void encode(const ElementType& type, const std::byte* from, std::size_t count,
                     std::byte* to) {
    zigzag_encode(type.size, from, count, to);
  }
  static void decode(const ElementType& type, const std::byte* from, std::size_t count,
                     std::byte* to) {
    zigzag_decode(type.size, from, count, to);
  }
};

constinit const WordTransform<Zigzag> codec;

}  // namespace

const Codec& zigzag_codec() { return codec; }

}  // namespace mcr::codecs
