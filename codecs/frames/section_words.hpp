// SPDX-License-Identifier: BSD-3-Clause
// Turns a section's prediction sources into arrays for the word kernel. Encoder and decoder share
// this code.
#pragma once

#include <span>
#include <vector>

#include "codecs/frames/solid_format.hpp"

namespace mcr::codecs::solid {

/// Words of a section in this machine's byte order, and the places of its bricks.
template <typename T>
struct SectionWords {
  std::span<T> words;
  const std::vector<Shape>* bricks = nullptr;
  std::vector<std::size_t> first;  ///< word at which each brick begins

  static SectionWords of(const Layout& layout, std::byte* memory) {
    SectionWords section;
    section.words = {reinterpret_cast<T*>(memory), static_cast<std::size_t>(layout.count())};
    section.bricks = &layout.bricks;
    std::size_t at = 0;
    for (const Shape& shape : layout.bricks) {
      section.first.push_back(at);
      at += static_cast<std::size_t>(shape.count());
    }
    return section;
  }
  [[nodiscard]] std::span<T> brick(std::size_t number) const {
    return words.subspan(first[number], static_cast<std::size_t>((*bricks)[number].count()));
  }
};

/// The predictions of one brick. `needs` are the sections that the section's entry names. `own` is
/// the section itself, decoded up to this brick. The arrays are valid until the next call of
/// prepare().
template <typename T>
class BrickPredictions {
 public:
  words::BrickPlan<T> prepare(const SectionEntry& entry, std::uint32_t brick,
                              std::span<const SectionWords<T>> needs, const SectionWords<T>& own,
                              Scratch& scratch) {
    const Box target = box_of((*own.bricks)[brick]);
    const std::size_t count = own.brick(brick).size();
    const auto& sources = entry.bricks[brick];
    for (std::size_t i = 0; i < sources.size(); ++i) {
      prepare_one(entry, sources[i], brick, target, count, i, needs, own, scratch);
    }
    return {target, std::span<const Prediction>(predictions_).first(sources.size())};
  }

 private:
  using Prediction = words::Prediction<T>;
  static constexpr std::size_t max_predictions = words::max_predictions(words::Coding::strong);

  void prepare_one(const SectionEntry& entry, const PredictionSource& source, std::uint32_t brick,
                   const Box& target, std::size_t count, std::size_t slot,
                   std::span<const SectionWords<T>> needs, const SectionWords<T>& own,
                   Scratch& scratch) {
    Prediction& prediction = predictions_[slot];
    prediction = {};
    if (source.kind == PredictionSource::Kind::neighbours) {
      prediction.axes = source.axes;
      if (source.axes != 0) prediction.kind = Prediction::Kind::neighbours;
      return;
    }
    if (source.kind == PredictionSource::Kind::formula) {
      const SectionFormula& formula = entry.formulas[source.formula];
      const T* inputs[Formula::max_inputs];
      for (std::size_t i = 0; i < formula.inputs.size(); ++i) {
        inputs[i] = needs[formula.inputs[i]].words.data() + own.first[brick];
      }
      arrays_[slot].resize(count);
      evaluate<T>(formula.formula, std::span<const T* const>(inputs, formula.inputs.size()),
                  scratch, arrays_[slot]);
      prediction.kind = Prediction::Kind::array;
      prediction.array = arrays_[slot].data();
      return;
    }
    const bool is_own = source.need == needs.size();
    const SectionWords<T>& from = is_own ? own : needs[source.need];
    const Box box = box_of((*from.bricks)[source.brick]);
    if (is_own && source.brick == brick) {
      prediction.kind = Prediction::Kind::partner;
      partners_[slot].resize(count);
      gather_index(box, target, source.order, partners_[slot]);
      prediction.partner = partners_[slot].data();
      return;
    }
    prediction.kind = Prediction::Kind::array;
    const std::span<const T> words = from.brick(source.brick);
    if (source.order == same_order) {
      prediction.array = words.data();
      return;
    }
    arrays_[slot].resize(count);
    gather<T>(words, box, target, source.order, arrays_[slot]);
    prediction.array = arrays_[slot].data();
  }

  std::array<Prediction, max_predictions> predictions_;
  std::array<std::vector<T>, max_predictions> arrays_;
  std::array<std::vector<std::uint32_t>, max_predictions> partners_;
};

}  // namespace mcr::codecs::solid
