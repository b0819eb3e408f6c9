// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/structure_split/structure_split_codec.hpp"

#include "codecs/base/byte_order.hpp"
#include "codecs/base/parameter_text.hpp"
#include "codecs/structure_split/structure_split.hpp"

namespace mcr::codecs {
namespace {

constexpr std::uint32_t most_components = 16;
constexpr std::string_view kind_letters = "buif";

/// Returns the type of a structure's members; nothing if bricks are to be split by their last
/// dimension.
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

/// Returns the components of a brick's last dimension; 1 if the brick is not split.
std::uint32_t components_of(const Shape& shape) {
  if (shape.rank < 2) return 1;
  const std::uint32_t last = shape.extent[shape.rank - 1U];
  return last >= 2 && last <= most_components ? last : 1;
}

struct Plan {
  std::uint32_t word_bytes = 1;
  std::vector<std::uint32_t> members;  ///< of each brick
  Layout after;
};

Result<Plan> plan_for(const Layout& in, ByteSpan parameters) {
  const auto members = MCR_TRY(member_type(parameters));
  Plan plan;
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

using Kernel = void (*)(std::size_t, std::size_t, const std::byte*, std::size_t, std::byte*);

void run(Kernel kernel, const Plan& plan, const Layout& layout, const std::byte* from,
         std::byte* to) {
  for (std::size_t b = 0; b < layout.bricks.size(); ++b) {
    const auto bytes = static_cast<std::size_t>(layout.bricks[b].count()) * layout.type.size;
    const std::size_t members = plan.members[b];
    kernel(plan.word_bytes, members, from, bytes / plan.word_bytes / members, to);
    from += bytes;
    to += bytes;
  }
}

class StructureSplitCodec final : public Codec {
 public:
  Result<Layout> output(const Layout& in, ByteSpan parameters) const override {
    return MCR_TRY(plan_for(in, parameters)).after;
  }
  bool changes_size() const override { return false; }
  Elements elements() const override { return Elements::bytes; }

  Result<void> encode(ByteSpan raw, const Layout& layout, ByteSpan parameters, Scratch&,
                      Bytes& out) const override {
    const Plan plan = MCR_TRY(plan_for(layout, parameters));
    const std::size_t begin = out.size();
    out.resize(begin + raw.size());
    run(structure_split_encode, plan, layout, raw.data(), out.data() + begin);
    return {};
  }
  Result<void> decode(ByteSpan stored, const Layout& layout, ByteSpan parameters, Scratch&,
                      MutableByteSpan raw) const override {
    const Plan plan = MCR_TRY(plan_for(layout, parameters));
    if (stored.size() != raw.size())
      return Error{Cause::damaged,
                   "structure_split: the stored bytes have another size than the raw bytes"};
    run(structure_split_decode, plan, layout, stored.data(), raw.data());
    return {};
  }

  Result<Bytes> parse(std::string_view text) const override {
    if (text.empty()) return Bytes{};
    for (unsigned kind = 1; kind < kind_letters.size(); ++kind) {
      for (unsigned log2_size = 0; log2_size < 4; ++log2_size) {
        const Bytes bytes{static_cast<std::byte>(kind << 4 | log2_size)};
        if (member_type(bytes) && print(bytes) == text) return bytes;
      }
    }
    return Error{Cause::usage, "structure_split: '" + std::string(text) +
                                   "' is no member type; allowed: u1 to u8, i1 to i8, f2, f4, f8"};
  }
  std::string print(ByteSpan parameters) const override {
    if (parameters.empty()) return "";
    const auto type = member_type(parameters);
    if (!type) return "?";
    return kind_letters[static_cast<std::size_t>((*type)->kind)] + std::to_string((*type)->size);
  }
};

constinit const StructureSplitCodec codec;

}  // namespace

const Codec& structure_split_codec() { return codec; }

}  // namespace mcr::codecs
