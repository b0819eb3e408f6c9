// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/base/codec_pipeline.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "codecs/base/byte_order.hpp"
#include "codecs/base/registry.hpp"

namespace mcr::codecs {
namespace {

// Elements are little-endian between steps. A big-endian machine reverses them before and after
// each codec that computes with them. A little-endian machine has nothing to do.
constexpr bool machine_is_little = std::endian::native == std::endian::little;

Result<const Codec*> codec_of(const Step& step) {
  const CodecEntry* entry = find_codec(step.codec);
  if (entry == nullptr) {
    return Error{Cause::unsupported, "codec number " + std::to_string(step.codec) +
                                         " is not known to this version of mcr; use a newer one"};
  }
  return &entry->codec();
}

Layout flat_bytes(std::uint64_t count) {
  return {{}, {Shape::flat(static_cast<std::uint32_t>(count))}};
}

/// Returns `bytes`, or a copy with its elements reversed if `codec` needs that on this machine.
ByteSpan for_codec(const Codec& codec, const ElementType& type, ByteSpan bytes, Bytes& turned) {
  if (machine_is_little || codec.elements() == Elements::bytes || type.size == 1 ||
      type.kind == ElementKind::bytes) {
    return bytes;
  }
  turned.resize(bytes.size());
  reverse_elements(bytes, type.size, turned);
  return turned;
}

void turn_in_place(const Codec& codec, const ElementType& type, MutableByteSpan bytes) {
  if (machine_is_little || codec.elements() == Elements::bytes || type.size == 1 ||
      type.kind == ElementKind::bytes) {
    return;
  }
  reverse_elements(bytes, type.size, bytes);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// Returns the place of the first '|' outside parentheses. A '|' inside belongs to a codec's
/// parameters, which may contain pipelines.
std::size_t find_bar(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (text[i] == '|' && depth == 0) return i;
  }
  return std::string_view::npos;
}

Error unknown_codec(std::string_view name) {
  std::string message = "unknown codec '" + std::string(name) + "'; known are none";
  for (const CodecEntry& entry : all_codecs()) message += ", " + std::string(entry.name);
  return {Cause::usage, message};
}

Result<Step> parse_step(std::string_view text) {
  std::string_view name = text;
  std::string_view parameters;
  const std::size_t open = text.find('(');
  if (open != std::string_view::npos) {
    if (text.back() != ')') {
      return Error{Cause::usage, "codec '" + std::string(text) + "' lacks its closing parenthesis"};
    }
    name = trimmed(text.substr(0, open));
    parameters = text.substr(open + 1, text.size() - open - 2);
  }
  const CodecEntry* entry = find_codec(name);
  if (entry == nullptr) return unknown_codec(name);
  return Step{entry->id, MCR_TRY(entry->codec().parse(parameters))};
}

}  // namespace

Result<Pipeline> Pipeline::parse(std::string_view text) {
  Pipeline pipeline;
  text = trimmed(text);
  if (text == "none") return pipeline;
  while (true) {
    const std::size_t bar = find_bar(text);
    pipeline.steps.push_back(MCR_TRY(parse_step(trimmed(text.substr(0, bar)))));
    if (pipeline.steps.size() > max_steps) {
      return Error{Cause::usage, "a pipeline has at most " + std::to_string(max_steps) + " codecs"};
    }
    if (bar == std::string_view::npos) return pipeline;
    text.remove_prefix(bar + 1);
  }
}

std::string Pipeline::print() const {
  if (steps.empty()) return "none";
  std::string text;
  for (const Step& step : steps) {
    if (!text.empty()) text += '|';
    const CodecEntry* entry = find_codec(step.codec);
    if (entry == nullptr) {
      text += "codec" + std::to_string(step.codec);
      continue;
    }
    text += entry->name;
    const std::string parameters = entry->codec().print(step.parameters);
    if (!parameters.empty()) text += '(' + parameters + ')';
  }
  return text;
}

void Pipeline::write(Writer& out) const {
  out.u8(static_cast<std::uint8_t>(steps.size()));
  for (const Step& step : steps) {
    out.u8(step.codec);
    out.varint(step.parameters.size());
    out.bytes(step.parameters);
  }
}

Result<Pipeline> Pipeline::read(Reader& in) {
  Pipeline pipeline;
  const std::uint8_t count = MCR_TRY(in.u8());
  if (count > max_steps) return Error{Cause::damaged, "the pipeline has too many codecs"};
  for (std::uint8_t i = 0; i < count; ++i) {
    Step step;
    step.codec = MCR_TRY(in.u8());
    const std::uint64_t length =
        MCR_TRY(in.varint_at_most(max_parameter_bytes, "codec parameters"));
    const ByteSpan parameters = MCR_TRY(in.bytes(length));
    step.parameters.assign(parameters.begin(), parameters.end());
    pipeline.steps.push_back(std::move(step));
  }
  return pipeline;
}

Result<std::size_t> coded_count(const Pipeline& pipeline) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < pipeline.steps.size(); ++i) {
    const bool coder = MCR_TRY(codec_of(pipeline.steps[i]))->changes_size();
    if (coder && i + 1 < pipeline.steps.size()) ++count;
  }
  return count;
}

Result<void> run_encode(Pipeline& pipeline, ByteSpan raw, const Layout& layout, Scratch& scratch,
                        Bytes& out, std::vector<std::uint64_t>& coded_bytes) {
  coded_bytes.clear();
  if (pipeline.steps.empty()) {
    out.insert(out.end(), raw.begin(), raw.end());
    return {};
  }
  // Two vectors are input and output in turn. The last step appends to `out` itself.
  const auto first = scratch.take_vector();
  const auto second = scratch.take_vector();
  const auto turned = scratch.take_vector();
  ByteSpan current = raw;
  Layout at = layout;
  for (std::size_t i = 0; i < pipeline.steps.size(); ++i) {
    Step& step = pipeline.steps[i];
    const Codec& codec = *MCR_TRY(codec_of(step));
    const bool last = i + 1 == pipeline.steps.size();
    const ByteSpan input = for_codec(codec, at.type, current, *turned);
    if (codec.wants_fit(step.parameters)) {
      step.parameters = MCR_TRY(codec.fit(input, at, step.parameters, scratch));
    }
    Layout next = MCR_TRY(codec.output(at, step.parameters));
    Bytes& target = last ? out : (i % 2 == 0 ? *first : *second);
    if (!last) target.clear();
    const std::size_t begin = target.size();
    MCR_TRY(codec.encode(input, at, step.parameters, scratch, target));
    if (codec.changes_size()) {
      const std::uint64_t size = target.size() - begin;
      if (!last && size > max_coded_bytes(layout.raw_bytes())) {
        return Error{Cause::usage,
                     "the pipeline " + pipeline.print() + " makes the data far larger"};
      }
      if (!last) coded_bytes.push_back(size);
      at = flat_bytes(size);
    } else {
      turn_in_place(codec, next.type, std::span(target).subspan(begin));
      at = std::move(next);
    }
    current = std::span(target).subspan(begin);
  }
  return {};
}

Result<void> run_decode(const Pipeline& pipeline, ByteSpan stored, const Layout& layout,
                        const std::vector<std::uint64_t>& coded_bytes, Scratch& scratch,
                        MutableByteSpan raw) {
  const std::size_t count = pipeline.steps.size();
  if (count == 0) {
    if (stored.size() != raw.size())
      return Error{Cause::damaged, "the stored bytes have another size than the raw bytes"};
    if (!raw.empty()) std::memcpy(raw.data(), stored.data(), raw.size());
    return {};
  }
  if (count > Pipeline::max_steps) return Error{Cause::damaged, "the pipeline has too many codecs"};

  // The layout before each step, computed forward as the encoder did.
  std::array<const Codec*, Pipeline::max_steps> codecs{};
  std::vector<Layout> layouts{layout};
  layouts.reserve(count + 1);
  std::size_t coded_used = 0;
  for (std::size_t i = 0; i < count; ++i) {
    codecs[i] = MCR_TRY(codec_of(pipeline.steps[i]));
    Layout next = MCR_TRY(codecs[i]->output(layouts[i], pipeline.steps[i].parameters));
    if (codecs[i]->changes_size() && i + 1 < count) {
      if (coded_used == coded_bytes.size())
        return Error{Cause::damaged, "the size of a step is missing"};
      const std::uint64_t size = coded_bytes[coded_used++];
      if (size > max_coded_bytes(raw.size()))
        return Error{Cause::damaged, "the size of a step is too large"};
      next = flat_bytes(size);
    }
    layouts.push_back(std::move(next));
  }

  // Steps write to two buffers in turn, the last one to `raw`.
  std::array<std::size_t, 2> room{};
  for (std::size_t i = 1; i < count; ++i) {
    room[i % 2] = std::max(room[i % 2], static_cast<std::size_t>(layouts[i].raw_bytes()));
  }
  const auto even = scratch.take<std::byte>(room[0]);
  const auto odd = scratch.take<std::byte>(room[1]);
  const auto turned = scratch.take_vector();
  ByteSpan current = stored;
  for (std::size_t i = count; i-- > 0;) {
    const Codec& codec = *codecs[i];
    const Layout& before = layouts[i];
    MutableByteSpan target = raw;
    if (i != 0) {
      target = (i % 2 == 0 ? even : odd).span().first(static_cast<std::size_t>(before.raw_bytes()));
    } else if (before.raw_bytes() != raw.size()) {
      return Error{Cause::usage, "the layout and the memory for the decoded bytes differ in size"};
    }
    ByteSpan input = current;
    if (!codec.changes_size()) {
      if (input.size() != target.size())
        return Error{Cause::damaged, "the stored bytes have another size than the raw bytes"};
      input = for_codec(codec, layouts[i + 1].type, current, *turned);
    }
    MCR_TRY(codec.decode(input, before, pipeline.steps[i].parameters, scratch, target));
    turn_in_place(codec, before.type, target);
    current = target;
  }
  return {};
}

}  // namespace mcr::codecs
