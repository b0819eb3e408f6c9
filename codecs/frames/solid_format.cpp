// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/frames/solid_format.hpp"

#include <limits>

#include "codecs/base/layout_format.hpp"
#include "codecs/frames/frame.hpp"
#include "codecs/frames/solid_frame.hpp"

namespace mcr::codecs::solid {
namespace {

Error damaged(const char* what) { return {Cause::damaged, std::string("solid frame: ") + what}; }

/// A brick's number is stored as its distance from the brick that refers to it, so that runs of
/// bricks have equal entries.
std::uint64_t distance(std::uint32_t from, std::uint32_t to) {
  const auto value = static_cast<std::int64_t>(to) - static_cast<std::int64_t>(from);
  return static_cast<std::uint64_t>((value << 1) ^ (value >> 63));
}
Result<std::uint32_t> at_distance(std::uint32_t from, std::uint64_t coded) {
  const std::int64_t value =
      static_cast<std::int64_t>(coded >> 1) ^ -static_cast<std::int64_t>(coded & 1);
  const std::int64_t to = static_cast<std::int64_t>(from) + value;
  if (to < 0 || to > std::numeric_limits<std::uint32_t>::max()) return damaged("no such brick");
  return static_cast<std::uint32_t>(to);
}

void write_source(const PredictionSource& source, std::uint32_t brick, Writer& out) {
  const bool neighbours = source.kind == PredictionSource::Kind::neighbours;
  const auto detail = static_cast<unsigned>(neighbours ? source.axes : source.order);
  out.u8(static_cast<std::uint8_t>(static_cast<unsigned>(source.kind) | detail << 2));
  if (source.kind == PredictionSource::Kind::formula) out.varint(source.formula);
  if (source.kind == PredictionSource::Kind::reference) {
    out.varint(source.need);
    out.varint(distance(brick, source.brick));
  }
}

Result<PredictionSource> read_source(Reader& in, std::uint32_t brick) {
  PredictionSource source;
  const std::uint8_t byte = MCR_TRY(in.u8());
  source.kind = static_cast<PredictionSource::Kind>(byte & 3U);
  const auto detail = static_cast<std::uint8_t>(byte >> 2);
  const bool neighbours = source.kind == PredictionSource::Kind::neighbours;
  if (source.kind > PredictionSource::Kind::reference ||
      detail >= (neighbours ? 8 : axis_order_count)) {
    return damaged("no such prediction");
  }
  (neighbours ? source.axes : source.order) = detail;
  if (source.kind == PredictionSource::Kind::formula) {
    source.formula =
        static_cast<std::uint32_t>(MCR_TRY(in.varint_at_most(max_sections, "formula number")));
  }
  if (source.kind == PredictionSource::Kind::reference) {
    source.need = static_cast<std::uint32_t>(MCR_TRY(in.varint_at_most(max_sections, "need")));
    source.brick = MCR_TRY(at_distance(
        brick, MCR_TRY(in.varint_at_most(std::uint64_t{1} << 33, "distance of bricks"))));
  }
  return source;
}

/// True if brick `b` is predicted like brick `a`, with sources at the same distances.
bool same_from(const std::vector<PredictionSource>& a, std::uint32_t brick_a,
               const std::vector<PredictionSource>& b, std::uint32_t brick_b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    PredictionSource moved = a[i];
    if (moved.kind == PredictionSource::Kind::reference) moved.brick += brick_b - brick_a;
    if (moved != b[i]) return false;
  }
  return true;
}

// Bricks' predictions are stored in runs: (length - 1, number of predictions, predictions of the
// run's first brick). The other bricks of a run have the same predictions, from bricks at the same
// distances.
void write_predictions(const SectionEntry& section, Writer& out) {
  const auto count = static_cast<std::uint32_t>(section.bricks.size());
  for (std::uint32_t brick = 0; brick < count;) {
    std::uint32_t end = brick + 1;
    while (end < count && same_from(section.bricks[brick], brick, section.bricks[end], end)) ++end;
    out.varint(end - brick - 1);
    out.varint(section.bricks[brick].size());
    for (const PredictionSource& source : section.bricks[brick]) write_source(source, brick, out);
    brick = end;
  }
}

Result<void> read_predictions(Reader& in, SectionEntry& section) {
  const auto count = static_cast<std::uint32_t>(section.layout.bricks.size());
  section.bricks.reserve(count);
  for (std::uint32_t brick = 0; brick < count;) {
    const std::uint64_t more = MCR_TRY(in.varint_at_most(count - brick - 1, "run of bricks"));
    const std::uint64_t predictions =
        MCR_TRY(in.varint_at_most(words::max_predictions(words::Coding::strong), "predictions"));
    if (predictions == 0) return damaged("a brick without prediction");
    std::vector<PredictionSource> sources;
    for (std::uint64_t i = 0; i < predictions; ++i) {
      sources.push_back(MCR_TRY(read_source(in, brick)));
    }
    const std::uint32_t end = brick + static_cast<std::uint32_t>(more) + 1;
    for (; brick < end; ++brick) {
      section.bricks.push_back(sources);
      for (PredictionSource& source : sources) ++source.brick;
    }
  }
  return {};
}

void write_section(const SectionEntry& section, Writer& out) {
  write_type(section.layout.type, out);
  write_bricks(section.layout.bricks, out);
  out.u64(section.raw_checksum);
  out.u8(static_cast<std::uint8_t>(section.kind));
  if (section.kind == SectionKind::joined) return;
  out.varint(section.payload_bytes);
  if (section.kind == SectionKind::plain) {
    section.pipeline.write(out);
    for (const std::uint64_t size : section.coded_bytes) out.varint(size);
    return;
  }
  out.varint(section.needs.size());
  for (const std::uint32_t need : section.needs) out.varint(need);
  out.varint(section.formulas.size());
  for (const SectionFormula& formula : section.formulas) {
    out.varint(formula.inputs.size());
    for (const std::uint32_t input : formula.inputs) out.varint(input);
    formula.formula.write(out);
  }
  write_predictions(section, out);
}

Result<void> read_words(Reader& in, std::size_t section_count, SectionEntry& section) {
  const ElementType& type = section.layout.type;
  if (type.kind == ElementKind::bytes || (type.size != 4 && type.size != 8)) {
    return damaged("words of a wrong type");
  }
  const std::uint64_t needs = MCR_TRY(in.varint_at_most(section_count, "needs"));
  for (std::uint64_t i = 0; i < needs; ++i) {
    section.needs.push_back(
        static_cast<std::uint32_t>(MCR_TRY(in.varint_at_most(section_count - 1, "need"))));
  }
  const std::uint64_t formulas = MCR_TRY(in.varint_at_most(in.remaining(), "formulas"));
  for (std::uint64_t i = 0; i < formulas; ++i) {
    SectionFormula& formula = section.formulas.emplace_back();
    const std::uint64_t inputs = MCR_TRY(in.varint_at_most(Formula::max_inputs, "inputs"));
    for (std::uint64_t k = 0; k < inputs; ++k) {
      const std::uint64_t input = MCR_TRY(in.varint_at_most(section_count, "input"));
      if (input >= needs) return damaged("a formula names no section");
      formula.inputs.push_back(static_cast<std::uint32_t>(input));
    }
    formula.formula = MCR_TRY(Formula::read(in));
    if (formula.formula.input_count() > inputs) return damaged("a formula lacks an input");
  }
  MCR_TRY(read_predictions(in, section));
  for (std::uint32_t brick = 0; brick < section.bricks.size(); ++brick) {
    for (const PredictionSource& source : section.bricks[brick]) {
      if (source.kind == PredictionSource::Kind::formula && source.formula >= formulas) {
        return damaged("no such formula");
      }
      if (source.kind == PredictionSource::Kind::reference && source.need > needs) {
        return damaged("a reference to no section");
      }
    }
  }
  return {};
}

Result<SectionEntry> read_section(Reader& in, std::size_t section_count) {
  SectionEntry section;
  section.layout.type = MCR_TRY(read_type(in));
  section.layout.bricks = MCR_TRY(read_bricks(in));
  if (const auto checked = check_layout(section.layout); !checked) {
    return Error{Cause::damaged, checked.error().message};
  }
  section.raw_checksum = MCR_TRY(in.u64());
  const std::uint8_t kind = MCR_TRY(in.u8());
  if (kind > static_cast<std::uint8_t>(SectionKind::words)) return damaged("no such section");
  section.kind = static_cast<SectionKind>(kind);
  if (section.kind == SectionKind::joined) return section;
  section.payload_bytes = MCR_TRY(in.varint());
  if (section.kind == SectionKind::plain) {
    section.pipeline = MCR_TRY(Pipeline::read(in));
    const std::size_t coded = MCR_TRY(coded_count(section.pipeline));
    for (std::size_t i = 0; i < coded; ++i) {
      section.coded_bytes.push_back(MCR_TRY(
          in.varint_at_most(max_coded_bytes(section.layout.raw_bytes()), "size of a step")));
    }
    return section;
  }
  MCR_TRY(read_words(in, section_count, section));
  return section;
}

/// Checks the sections from which a section is predicted: they must exist, be decoded before it,
/// and have the same kind of words.
Result<void> check_needs(const Directory& directory, std::uint32_t number,
                         const std::vector<bool>& decoded) {
  const SectionEntry& section = directory.sections[number];
  for (const std::uint32_t need : section.needs) {
    if (!decoded[need]) return damaged("a section needs a later one");
    if (directory.sections[need].layout.type.size != section.layout.type.size ||
        directory.sections[need].layout.type.kind == ElementKind::bytes) {
      return damaged("a section needs words of another size");
    }
  }
  for (const SectionFormula& formula : section.formulas) {
    if (section.layout.type.kind != ElementKind::floating) return damaged("formula of integers");
    for (const std::uint32_t input : formula.inputs) {
      const Layout& layout = directory.sections[section.needs[input]].layout;
      if (layout.type.kind != ElementKind::floating || layout.count() != section.layout.count()) {
        return damaged("a formula's input has another length");
      }
    }
  }
  for (std::uint32_t brick = 0; brick < section.bricks.size(); ++brick) {
    for (const PredictionSource& source : section.bricks[brick]) {
      if (source.kind != PredictionSource::Kind::reference) continue;
      const bool own = source.need == section.needs.size();
      const Layout& layout =
          own ? section.layout : directory.sections[section.needs[source.need]].layout;
      if (own ? source.brick > brick : source.brick >= layout.bricks.size()) {
        return damaged("a reference to a brick that is not there");
      }
      const Box target = box_of(section.layout.bricks[brick]);
      if (!fits(box_of(layout.bricks[source.brick]), target, source.order)) {
        return damaged("a reference to a brick of another shape");
      }
    }
  }
  return {};
}

}  // namespace

void write_directory(const Directory& directory, Bytes& bytes) {
  Writer out(bytes);
  out.varint(directory.sections.size());
  for (const SectionEntry& section : directory.sections) write_section(section, out);
  for (const std::uint32_t number : directory.order) out.varint(number);
  out.varint(directory.joined_bytes);
}

Result<Directory> read_directory(ByteSpan bytes) {
  Reader in(bytes);
  Directory directory;
  const std::uint64_t count = MCR_TRY(in.varint_at_most(max_sections, "number of sections"));
  std::uint64_t raw_bytes = 0;
  std::uint64_t bricks = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    directory.sections.push_back(MCR_TRY(read_section(in, static_cast<std::size_t>(count))));
    raw_bytes += directory.sections.back().layout.raw_bytes();
    bricks += directory.sections.back().layout.bricks.size();
    if (raw_bytes > max_frame_raw_bytes || bricks > max_solid_bricks) {
      return damaged("sections are above their limit");
    }
  }
  std::vector<bool> decoded(static_cast<std::size_t>(count), false);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto number =
        static_cast<std::uint32_t>(MCR_TRY(in.varint_at_most(count - 1, "section number")));
    if (decoded[number]) return damaged("a section comes twice");
    MCR_TRY(check_needs(directory, number, decoded));
    decoded[number] = true;
    directory.order.push_back(number);
  }
  directory.joined_bytes = MCR_TRY(in.varint());
  if (in.remaining() != 0) return damaged("directory is too long");
  return directory;
}

}  // namespace mcr::codecs::solid
