// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/structure_split/split_plan.hpp"

#include "codecs/base/byte_order.hpp"

namespace mcr::codecs {
namespace {

constexpr std::uint32_t most_components = 16;

/// Returns the components of a brick's last dimension; 1 if the brick is not split.
std::uint32_t components_of(const Shape& shape) {
  if (shape.rank < 2) return 1;
  const std::uint32_t last = shape.extent[shape.rank - 1U];
  return last >= 2 && last <= most_components ? last : 1;
}

}  // namespace

Result<std::optional<ElementType>> member_type(ByteSpan parameters) {
  if (parameters.empty()) return std::optional<ElementType>();
  const auto byte = std::to_integer<unsigned>(parameters[0]);
  const ElementType type{static_cast<ElementKind>(byte >> 4 & 3), 1U << (byte & 3), false};
  const bool known = parameters.size() == 1 && (byte & 0xcc) == 0 && (byte >> 4) != 0 &&
                     !(type.kind == ElementKind::floating && type.size == 1);
  if (!known)
    return Error{Cause::usage,
                 "structure_split: the parameter is not one byte that names a member's type"};
  return std::optional<ElementType>(type);
}

Result<SplitPlan> split_plan(const Layout& in, ByteSpan parameters) {
  const auto members = MCR_TRY(member_type(parameters));
  SplitPlan plan;
  if (members) {
    if (in.type.size % members->size != 0) {
      return Error{Cause::usage,
                   "structure_split: the member's size does not divide the structure"};
    }
    plan.word_bytes = members->size;
    plan.after.type = *members;
    const std::uint32_t count = in.type.size / members->size;
    for (const Shape& brick : in.bricks) {
      plan.members.push_back(count);
      for (std::uint32_t m = 0; m < count; ++m) plan.after.bricks.push_back(brick);
      // Limits the number of bricks, because many bricks of long structures would make too many.
      if (plan.after.bricks.size() > (std::size_t{1} << 22)) {
        return Error{Cause::usage, "structure_split: the members make too many bricks"};
      }
    }
    return plan;
  }
  if (!is_word_size(in.type.size)) {
    return Error{Cause::usage, "structure_split: takes numbers, or a member's type as parameter"};
  }
  plan.word_bytes = in.type.size;
  plan.after.type = in.type;
  for (const Shape& brick : in.bricks) {
    const std::uint32_t components = components_of(brick);
    Shape part = brick;
    if (components > 1) {
      --part.rank;
      part.extent[part.rank] = 0;
    }
    plan.members.push_back(components);
    plan.after.bricks.insert(plan.after.bricks.end(), components, part);
  }
  return plan;
}

}  // namespace mcr::codecs
