// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/delta/delta_codec.hpp"

#include "codecs/base/word_transform.hpp"
#include "codecs/delta/delta.hpp"

namespace mcr::codecs {
namespace {

struct Delta {
  static constexpr const char* name = "delta";
  static Result<ElementKind> output(const ElementType& type) {
    if (type.kind == ElementKind::floating) {
      return Error{Cause::usage, "delta: takes integers; put ordered_int before it"};
    }
    return ElementKind::signed_integer;
  }
  static void encode(const ElementType& type, const std::byte* from, std::size_t count,
                     std::byte* to) {
    delta_encode(type.size, from, count, to);
  }
  static void decode(const ElementType& type, const std::byte* from, std::size_t count,
                     std::byte* to) {
    delta_decode(type.size, from, count, to);
  }
};

constinit const WordTransform<Delta> codec;

}  // namespace

const Codec& delta_codec() { return codec; }

}  // namespace mcr::codecs
