// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/frames/solid_report.hpp"

namespace mcr::codecs::solid {
namespace {

std::string name_of(const std::vector<std::string>& names, std::size_t section) {
  if (section < names.size() && !names[section].empty()) return names[section];
  return "section " + std::to_string(section);
}

void describe_words(const SectionEntry& entry, const std::vector<std::string>& names,
                    SectionReport& row) {
  std::size_t references = 0;
  std::size_t computed = 0;
  for (const auto& brick : entry.bricks) {
    for (const PredictionSource& source : brick) {
      references += source.kind == PredictionSource::Kind::reference;
      computed += source.kind == PredictionSource::Kind::formula;
    }
  }
  row.coding = "words";
  row.is_related = references + computed != 0;
  row.needs = entry.needs;
  if (references != 0) row.coding += ", " + std::to_string(references) + " references";
  if (computed == 0) return;
  std::vector<std::string> inputs;
  for (const std::uint32_t input : entry.formulas[0].inputs) {
    inputs.push_back(name_of(names, entry.needs[input]));
  }
  row.coding += ", " + entry.formulas[0].formula.print(inputs);
}

}  // namespace

std::vector<SectionReport> describe(const Directory& directory,
                                    const std::vector<std::string>& names) {
  std::vector<SectionReport> report;
  for (std::size_t n = 0; n < directory.sections.size(); ++n) {
    const SectionEntry& entry = directory.sections[n];
    SectionReport& row = report.emplace_back();
    row.name = name_of(names, n);
    row.raw_bytes = entry.layout.raw_bytes();
    row.stored_bytes = entry.payload_bytes;
    if (entry.kind == SectionKind::plain) row.coding = entry.pipeline.print();
    if (entry.kind == SectionKind::joined) row.coding = "joined";
    if (entry.kind == SectionKind::words) describe_words(entry, names, row);
  }
  return report;
}

}  // namespace mcr::codecs::solid
