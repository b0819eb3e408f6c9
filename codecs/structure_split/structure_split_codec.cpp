// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/structure_split/structure_split_codec.hpp"

#include "codecs/base/parameter_text.hpp"
#include "codecs/structure_split/split_plan.hpp"
#include "codecs/structure_split/structure_split.hpp"

namespace mcr::codecs {
namespace {

constexpr std::string_view kind_letters = "buif";

using Kernel = void (*)(std::size_t, std::size_t, const std::byte*, std::size_t, std::byte*);

void run(Kernel kernel, const SplitPlan& plan, const Layout& layout, const std::byte* from,
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
    return MCR_TRY(split_plan(in, parameters)).after;
  }
  bool changes_size() const override { return false; }
  Elements elements() const override { return Elements::bytes; }

  Result<void> encode(ByteSpan raw, const Layout& layout, ByteSpan parameters, Scratch&,
                      Bytes& out) const override {
    const SplitPlan plan = MCR_TRY(split_plan(layout, parameters));
    const std::size_t begin = out.size();
    out.resize(begin + raw.size());
    run(structure_split_encode, plan, layout, raw.data(), out.data() + begin);
    return {};
  }
  Result<void> decode(ByteSpan stored, const Layout& layout, ByteSpan parameters, Scratch&,
                      MutableByteSpan raw) const override {
    const SplitPlan plan = MCR_TRY(split_plan(layout, parameters));
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
