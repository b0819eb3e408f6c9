// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/solid/solid_encode.hpp"

#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "codecs/base/checksum.hpp"
#include "codecs/base/float_environment.hpp"
#include "codecs/choice/chooser.hpp"
#include "codecs/choice/estimate.hpp"
#include "codecs/frames/frame.hpp"
#include "codecs/frames/frame_plan.hpp"
#include "codecs/frames/section_memory.hpp"
#include "codecs/frames/section_words.hpp"
#include "codecs/frames/solid_bytes.hpp"
#include "codecs/frames/solid_frame.hpp"
#include "codecs/frames/solid_report.hpp"
#include "codecs/solid/brick_sources.hpp"
#include "codecs/solid/section_order.hpp"

namespace mcr::codecs {
namespace {

using solid::Directory;
using solid::PredictionSource;
using solid::SectionEntry;
using solid::SectionFormula;
using solid::SectionKind;
using solid::SectionMemory;
using solid::SectionWords;

/// Bytes of a plain frame beside its payload, if it has few bricks.
constexpr std::uint64_t usual_frame_overhead = 48;
constexpr std::size_t references_tried = 6;
constexpr std::uint32_t tiny_bricks_tried = 16;

bool takes_words(const Layout& layout) {
  return layout.type.kind != ElementKind::bytes && (layout.type.size == 4 || layout.type.size == 8);
}

class Encoder {
 public:
  Encoder(ByteSpan raw, const std::vector<Section>& sections, const SolidOptions& options,
          Scratch& scratch)
      : raw_(raw), sections_(sections), options_(options), scratch_(scratch) {}

  Result<void> run(Bytes& out, std::vector<SectionReport>* report) {
    MCR_TRY(take_sections());
    MCR_TRY(code_sections());
    write(out);
    if (report != nullptr) *report = reports();
    return {};
  }

  /// Codes related sections only, and makes no frame.
  Result<std::vector<SectionReport>> weigh() {
    codes_related_only_ = true;
    MCR_TRY(take_sections());
    MCR_TRY(code_sections());
    set_payload_bytes();
    std::vector<SectionReport> all = reports();
    for (std::size_t n = 0; n < all.size(); ++n) all[n].plain_bytes = plain_bytes_[n];
    return all;
  }

 private:
  Result<void> code_sections() {
    const DefaultFloatEnvironment environment;
    order_ = solid::find_order(sections_, memory_, options_.formulas, scratch_);
    directory_.order = order_.order;
    std::uint64_t count_4 = 0;
    std::uint64_t count_8 = 0;
    for (const Section& section : sections_) {
      if (!takes_words(section.layout)) continue;
      (section.layout.type.size == 8 ? count_8 : count_4) += section.layout.count();
    }
    solid::WordHistory<std::uint64_t> history_8(count_8);
    solid::WordHistory<std::uint32_t> history_4(count_4);
    for (const std::uint32_t n : directory_.order) {
      if (!takes_words(sections_[n].layout)) {
        MCR_TRY(code_alone(n));
      } else if (sections_[n].layout.type.size == 8) {
        MCR_TRY(code_words(n, history_8));
      } else {
        MCR_TRY(code_words(n, history_4));
      }
    }
    return {};
  }

  [[nodiscard]] std::vector<SectionReport> reports() const {
    std::vector<std::string> names;
    for (const Section& section : sections_) names.push_back(section.name);
    return solid::describe(directory_, names);
  }

  Result<void> take_sections() {
    std::uint64_t total = 0;
    for (const Section& section : sections_) {
      MCR_TRY(check_layout(section.layout));
      total += section.layout.raw_bytes();
    }
    if (sections_.size() > max_sections || total > max_frame_raw_bytes || total != raw_.size()) {
      return Error{Cause::usage, "solid frame: sections do not fit the bytes or a frame"};
    }
    std::size_t at = 0;
    memory_.resize(sections_.size());
    payloads_.resize(sections_.size());
    plain_bytes_.resize(sections_.size());
    for (std::size_t n = 0; n < sections_.size(); ++n) {
      const Layout& layout = sections_[n].layout;
      const ByteSpan own = raw_.subspan(at, static_cast<std::size_t>(layout.raw_bytes()));
      const auto file = layout.type.big_endian ? std::endian::big : std::endian::little;
      memory_[n].read(layout, own, file);
      SectionEntry& entry = directory_.sections.emplace_back();
      entry.layout = layout;
      if (!codes_related_only_) entry.raw_checksum = checksum(own);
      at += own.size();
    }
    return {};
  }

  ByteSpan native(std::uint32_t n) const {
    return {memory_[n].data(), static_cast<std::size_t>(sections_[n].layout.raw_bytes())};
  }

  Result<void> code_alone(std::uint32_t n) {
    SectionEntry& entry = directory_.sections[n];
    const bool has_words = !payloads_[n].empty();
    if (codes_related_only_ && !has_words) return {};
    Layout layout = entry.layout;
    layout.type.big_endian = false;
    const auto turned = scratch_.take_vector();
    ByteSpan bytes = native(n);
    if (std::endian::native != std::endian::little) {
      turned->assign(bytes.begin(), bytes.end());
      solid::turn(layout.type, std::endian::native, std::endian::little, *turned);
      bytes = *turned;
    }
    const Choice choice = choose(options_.profile, layout, bytes, scratch_, sections_[n].name);
    Bytes payload;
    std::vector<std::uint64_t> coded;
    Pipeline pipeline = choice.pipeline;  // run_encode fits data-dependent parameters
    const auto encoded = run_encode(pipeline, bytes, layout, scratch_, payload, coded);
    if (!encoded && encoded.error().cause != Cause::usage &&
        encoded.error().cause != Cause::unsupported) {
      return encoded.error();
    }
    if (!encoded || payload.size() >= bytes.size()) {
      pipeline = {};
      coded.clear();
      payload.assign(bytes.begin(), bytes.end());
    }
    plain_bytes_[n] = payload.size() + usual_frame_overhead;
    // Coding by words is smaller.
    if (has_words && payloads_[n].size() <= payload.size()) return {};
    entry.kind = SectionKind::plain;
    entry.needs.clear();
    entry.formulas.clear();
    entry.bricks.clear();
    entry.pipeline = std::move(pipeline);
    entry.coded_bytes = std::move(coded);
    payloads_[n] = std::move(payload);
    return {};
  }

  /// The sections whose words predict the words of one section.
  template <typename T>
  struct Needs {
    std::vector<std::uint32_t>& sections;
    std::vector<SectionWords<T>> words;  ///< one a section
  };

  /// Returns the number of `section` among the needs, after adding it if it is a new one.
  template <typename T>
  std::uint32_t number_of(std::uint32_t section, Needs<T>& needs) const {
    const auto at = std::find(needs.sections.begin(), needs.sections.end(), section);
    const auto number = static_cast<std::uint32_t>(at - needs.sections.begin());
    if (at == needs.sections.end()) {
      needs.sections.push_back(section);
      needs.words.push_back(
          SectionWords<T>::of(sections_[section].layout, memory_[section].data()));
    }
    return number;
  }

  /// Stores the formula that was found for section `n`, and evaluates it into `computed`.
  template <typename T>
  void store_formula(std::uint32_t n, Needs<T>& needs, std::vector<T>& computed) {
    const auto& found = order_.formulas[n];
    SectionFormula& formula = directory_.sections[n].formulas.emplace_back();
    formula.formula = found->formula;
    const T* inputs[Formula::max_inputs];
    for (std::size_t i = 0; i < found->inputs.size(); ++i) {
      formula.inputs.push_back(number_of(found->inputs[i], needs));
      inputs[i] = memory_[found->inputs[i]].template words<T>();
    }
    evaluate<T>(formula.formula, std::span<const T* const>(inputs, found->inputs.size()), scratch_,
                computed);
  }

  /// What predicts each brick of a section.
  struct SectionSources {
    std::vector<std::vector<solid::BrickSource>> bricks;
    std::uint64_t estimated_bits = 0;  ///< of all words
  };

  /// `computed`: what the section's formula gives for its words; empty without a formula.
  template <typename T>
  SectionSources choose_section_sources(std::uint32_t n, const SectionWords<T>& own,
                                        std::span<const T> computed,
                                        solid::WordHistory<T>& history) const {
    const Layout& layout = directory_.sections[n].layout;
    // Examining a tiny brick costs more than coding it, so only the first ones are examined, for
    // all others.
    const bool many_tiny = own.words.size() / 64 < layout.bricks.size();
    const std::size_t limit = options_.references && !many_tiny ? references_tried : 0;
    SectionSources chosen;
    std::vector<Reference> found;
    for (std::uint32_t brick = 0; brick < layout.bricks.size(); ++brick) {
      if (many_tiny && brick >= tiny_bricks_tried) {
        chosen.bricks.push_back(chosen.bricks.back());
        chosen.estimated_bits += chosen.estimated_bits / brick;
        continue;
      }
      const std::span<const T> words = own.brick(brick);
      const std::uint32_t number =
          history.index.add(words, box_of(layout.bricks[brick]), limit, found);
      history.places.push_back({n, brick});
      solid::BrickSources sources = solid::choose_sources<T>(
          {numbers_of(layout), words, number, found,
           computed.empty() ? nullptr : computed.data() + own.first[brick]},
          history, words::max_predictions(options_.coding));
      chosen.bricks.push_back(std::move(sources.sources));
      chosen.estimated_bits += sources.estimated_bits;
    }
    return chosen;
  }

  /// True if coding by words is worth a trial. With predictions from neighbours alone, it is worse
  /// than pipelines, unless the residuals are almost nothing.
  [[nodiscard]] bool pays(const SectionSources& chosen, std::uint64_t raw_bits) const {
    bool related = false;
    for (const auto& sources : chosen.bricks) {
      for (const solid::BrickSource& source : sources) {
        related |= source.kind != PredictionSource::Kind::neighbours;
      }
    }
    if (codes_related_only_ && !related) return false;
    return static_cast<double>(chosen.estimated_bits) * (related ? 1.1 : 32) <
           static_cast<double>(raw_bits);
  }

  template <typename T>
  void store_sources(std::uint32_t n, const SectionSources& chosen,
                     const solid::WordHistory<T>& history, Needs<T>& needs) {
    SectionEntry& entry = directory_.sections[n];
    for (const auto& brick : chosen.bricks) {
      auto& sources = entry.bricks.emplace_back();
      for (const solid::BrickSource& source : brick) {
        PredictionSource stored;
        stored.kind = source.kind;
        stored.axes = source.axes;
        if (source.kind == PredictionSource::Kind::reference) {
          const auto& place = history.places[source.reference.brick];
          stored.brick = place.brick;
          stored.order = source.reference.order;
          stored.need = place.section == n ? own_need : number_of(place.section, needs);
        }
        sources.push_back(stored);
      }
    }
    // The section's own number follows those of all others.
    for (auto& sources : entry.bricks) {
      for (PredictionSource& source : sources) {
        if (source.need == own_need) source.need = static_cast<std::uint32_t>(entry.needs.size());
      }
    }
  }

  static words::Numbers numbers_of(const Layout& layout) {
    return layout.type.kind == ElementKind::floating ? words::Numbers::floating
                                                     : words::Numbers::integer;
  }

  template <typename T>
  Result<void> code_words(std::uint32_t n, solid::WordHistory<T>& history) {
    SectionEntry& entry = directory_.sections[n];
    const auto own = SectionWords<T>::of(entry.layout, memory_[n].data());
    Needs<T> needs{entry.needs, {}};
    std::vector<T> computed;
    if (order_.formulas[n]) {
      computed.resize(own.words.size());
      store_formula(n, needs, computed);
    }
    const SectionSources chosen = choose_section_sources<T>(n, own, computed, history);
    if (!pays(chosen, static_cast<std::uint64_t>(own.words.size()) * sizeof(T) * 8)) {
      entry.needs.clear();
      entry.formulas.clear();
      return code_alone(n);
    }
    store_sources(n, chosen, history, needs);
    entry.kind = SectionKind::words;
    const auto encoder = words::new_encoder<T>(options_.coding, numbers_of(entry.layout));
    solid::BrickPredictions<T> predictions;
    for (std::uint32_t brick = 0; brick < entry.bricks.size(); ++brick) {
      encoder->brick(own.brick(brick),
                     predictions.prepare(entry, brick, needs.words, own, scratch_));
    }
    MCR_TRY(encoder->finish(options_.level, scratch_, payloads_[n]));
    if (nothing_comes_near(n)) return {};
    return code_alone(n);
  }

  /// True if the estimates of all pipelines are far above the size of the words, so that no
  /// pipeline is worth a trial.
  [[nodiscard]] bool nothing_comes_near(std::uint32_t n) {
    constexpr double far = 1.5;
    constexpr std::size_t points = 512;
    const Layout& layout = sections_[n].layout;
    const auto stored = static_cast<double>(payloads_[n].size());
    const bool nearly_vanishes = stored * 1024 < static_cast<double>(layout.raw_bytes());
    if (nearly_vanishes && !codes_related_only_) return true;
    Layout in_memory = layout;
    in_memory.type.big_endian = std::endian::native == std::endian::big;
    const Estimates estimates = estimate(mesh_layout(in_memory), native(n), points);
    const double bits = *std::min_element(estimates.bits.begin(), estimates.bits.end());
    const double bytes = bits / 8 * static_cast<double>(layout.count());
    plain_bytes_[n] = static_cast<std::uint64_t>(bytes) + usual_frame_overhead;
    return nearly_vanishes || bytes > stored * far;
  }

  void set_payload_bytes() {
    for (std::size_t n = 0; n < sections_.size(); ++n) {
      directory_.sections[n].payload_bytes = payloads_[n].size();
    }
  }

  void write(Bytes& out) {
    set_payload_bytes();
    Bytes bytes;
    solid::write_directory(directory_, bytes);
    Bytes packed(ZSTD_compressBound(bytes.size()));
    const std::size_t size =
        ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 6);
    const bool use_packed = ZSTD_isError(size) == 0 && size < bytes.size();
    packed.resize(use_packed ? size : 0);
    Bytes head;
    Writer inside(head);
    inside.varint(bytes.size());
    inside.varint(packed.size());
    inside.bytes(use_packed ? packed : bytes);
    std::uint64_t body = head.size();
    for (const Bytes& payload : payloads_) body += payload.size();
    const std::size_t begin = out.size();
    Writer writer(out);
    writer.u8(solid::magic);
    writer.u8(frame_format_version);
    writer.u8(solid::kind);
    writer.varint(raw_.size());
    writer.varint(body);
    writer.bytes(head);
    for (const Bytes& payload : payloads_) writer.bytes(payload);
    writer.u64(checksum(std::span(out).subspan(begin)));
  }

  static constexpr std::uint32_t own_need = 0xffffffff;

  ByteSpan raw_;
  const std::vector<Section>& sections_;
  const SolidOptions& options_;
  Scratch& scratch_;
  std::vector<SectionMemory> memory_;
  solid::SectionOrder order_;
  Directory directory_;
  std::vector<Bytes> payloads_;
  bool codes_related_only_ = false;
  std::vector<std::uint64_t> plain_bytes_;  ///< SectionReport::plain_bytes
};

}  // namespace

SolidOptions solid_options(const ProfileOptions& profile) {
  SolidOptions options;
  options.profile = profile;
  if (profile.profile == Profile::fast) options.level = 1;
  if (profile.profile == Profile::max) {
    options.level = 19;
    options.coding = words::Coding::strong;
  }
  return options;
}

Result<void> encode_solid_frame(ByteSpan raw, const std::vector<Section>& sections,
                                const SolidOptions& options, Scratch& scratch, Bytes& out,
                                std::vector<SectionReport>* report) {
  const std::size_t begin = out.size();
  MCR_TRY(Encoder(raw, sections, options, scratch).run(out, report));
  if (options.profile.profile != Profile::max) return {};
  ProfileOptions balanced = options.profile;
  balanced.profile = Profile::balanced;
  const SolidOptions other_options = solid_options(balanced);
  Bytes other;
  std::vector<SectionReport> other_report;
  MCR_TRY(Encoder(raw, sections, other_options, scratch).run(other, &other_report));
  if (other.size() >= out.size() - begin) return {};
  out.resize(begin);
  out.insert(out.end(), other.begin(), other.end());
  if (report != nullptr) *report = std::move(other_report);
  return {};
}

Result<std::vector<SectionReport>> weigh_sections(ByteSpan raw,
                                                  const std::vector<Section>& sections,
                                                  const SolidOptions& options, Scratch& scratch) {
  return Encoder(raw, sections, options, scratch).weigh();
}

}  // namespace mcr::codecs
