// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/solid/section_order.hpp"

#include <algorithm>

#include "codecs/word_candidates/differences.hpp"

namespace mcr::codecs::solid {
namespace {

constexpr std::size_t tried_rows = 512;
constexpr std::size_t varied_rows = 64;  // rows that differ most from their neighbours
constexpr std::size_t other_rows = 32;   // random rows
constexpr std::size_t max_group = 64;    // sections of one layout that are compared
constexpr double least_gain = 4;         // bits per word; a smaller gain is not worth an order

using Found = std::vector<std::optional<FoundFormula>>;

/// Returns the rows at which most columns differ from the row before, then some random rows.
template <typename T>
std::vector<std::size_t> choose_rows(const std::vector<const T*>& columns, std::size_t count) {
  struct Row {
    std::size_t at;
    std::size_t varied;
  };
  std::vector<Row> rows;
  std::uint64_t state = 0x853c49e6748fea9bU;
  for (std::size_t i = 0; i < std::min(tried_rows, count); ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    Row row{count <= tried_rows ? i : static_cast<std::size_t>((state >> 16) % count), 0};
    for (const T* column : columns)
      row.varied += row.at == 0 || column[row.at] != column[row.at - 1];
    rows.push_back(row);
  }
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < std::min(other_rows, rows.size()); ++i) chosen.push_back(rows[i].at);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.varied > b.varied; });
  rows.resize(std::min(rows.size(), varied_rows));
  std::vector<std::size_t> all;
  for (const Row& row : rows) all.push_back(row.at);
  all.insert(all.end(), chosen.begin(), chosen.end());
  return all;
}

/// Returns the bits per word if each word is predicted by the word before. A formula must be better
/// than this.
template <typename T>
double plain_bits(const T* words, const std::vector<std::size_t>& rows) {
  std::uint64_t bits = 0;
  for (const std::size_t row : rows) {
    bits += words::cost(words::Numbers::floating, words[row], row == 0 ? T{0} : words[row - 1]);
  }
  return static_cast<double>(bits) / static_cast<double>(rows.size());
}

struct Offer {
  std::uint32_t section;
  FoundFormula formula;
};

template <typename T>
void search_group(const std::vector<std::uint32_t>& group, std::size_t count,
                  const std::vector<SectionMemory>& memory, Scratch& scratch,
                  std::vector<Offer>& offers) {
  std::vector<const T*> columns;
  for (const std::uint32_t n : group) columns.push_back(memory[n].words<T>());
  const auto rows = choose_rows(columns, count);
  Samples<T> samples;
  for (const T* column : columns) {
    auto& out = samples.columns.emplace_back();
    for (const std::size_t row : rows) out.push_back(column[row]);
  }
  std::vector<FoundFormula> found = find_formulas(samples, scratch);
  for (std::size_t i = 0; i < group.size(); ++i) {
    const double gain = plain_bits(columns[i], rows) - found[i].bits_per_word;
    if (gain < least_gain) continue;
    for (std::uint32_t& input : found[i].inputs) input = group[input];
    offers.push_back({group[i], std::move(found[i])});
  }
}

/// True if `from` is computed from `target`, directly or through other sections.
bool depends_on(const Found& formulas, std::uint32_t from, std::uint32_t target) {
  if (from == target) return true;
  if (!formulas[from]) return false;
  for (const std::uint32_t input : formulas[from]->inputs) {
    if (depends_on(formulas, input, target)) return true;
  }
  return false;
}

void place(const Found& formulas, std::uint32_t section, std::vector<bool>& placed,
           std::vector<std::uint32_t>& order) {
  if (placed[section]) return;
  placed[section] = true;
  if (formulas[section]) {
    for (const std::uint32_t input : formulas[section]->inputs) {
      place(formulas, input, placed, order);
    }
  }
  order.push_back(section);
}

}  // namespace

SectionOrder find_order(const std::vector<Section>& sections,
                        const std::vector<SectionMemory>& memory, bool formulas, Scratch& scratch) {
  SectionOrder result;
  result.formulas.resize(sections.size());
  std::vector<Offer> offers;
  std::vector<bool> grouped(sections.size(), !formulas);
  for (std::uint32_t n = 0; n < sections.size(); ++n) {
    const Layout& layout = sections[n].layout;
    if (grouped[n] || layout.type.kind != ElementKind::floating || layout.count() < 64) continue;
    std::vector<std::uint32_t> group;
    for (std::uint32_t other = n; other < sections.size(); ++other) {
      const Layout& next = sections[other].layout;
      if (grouped[other] || next.type.kind != ElementKind::floating ||
          next.type.size != layout.type.size || next.bricks != layout.bricks) {
        continue;
      }
      grouped[other] = true;
      group.push_back(other);
    }
    if (group.size() < 2) continue;
    group.resize(std::min(group.size(), max_group));
    const auto count = static_cast<std::size_t>(layout.count());
    if (layout.type.size == 8) {
      search_group<std::uint64_t>(group, count, memory, scratch, offers);
    } else if (layout.type.size == 4) {
      search_group<std::uint32_t>(group, count, memory, scratch, offers);
    }
  }
  // Takes the formulas with the smallest residuals first: a quotient may be exact while the inverse
  // product is not. Leaves out formulas by which a section would depend on itself.
  std::stable_sort(offers.begin(), offers.end(), [](const Offer& a, const Offer& b) {
    return a.formula.bits_per_word < b.formula.bits_per_word;
  });
  for (Offer& offer : offers) {
    bool circle = false;
    for (const std::uint32_t input : offer.formula.inputs) {
      circle |= depends_on(result.formulas, input, offer.section);
    }
    if (!circle) result.formulas[offer.section] = std::move(offer.formula);
  }
  std::vector<bool> placed(sections.size(), false);
  for (std::uint32_t n = 0; n < sections.size(); ++n) {
    place(result.formulas, n, placed, result.order);
  }
  return result;
}

}  // namespace mcr::codecs::solid
