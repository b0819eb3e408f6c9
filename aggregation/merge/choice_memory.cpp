// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/choice_memory.hpp"

#include <cmath>

namespace mcr::aggregation {
namespace {

constexpr unsigned choice_uses = 32;
constexpr unsigned link_uses = 12;  // fewer uses, because symmetries and formulas may cease to hold
constexpr double drift = 0.05;
constexpr std::size_t most_entries = 1U << 16;  // at this number, all entries are forgotten

}  // namespace

bool ChoiceMemory::Record::holds_for(std::uint64_t bytes, unsigned most_uses) const {
  return uses < most_uses && bytes <= raw_bytes + raw_bytes / 2 && raw_bytes <= bytes + bytes / 2;
}

bool ChoiceMemory::Record::agrees(std::uint64_t bytes, std::uint64_t stored) const {
  const double share = static_cast<double>(stored) / static_cast<double>(bytes);
  return std::abs(share - stored_share) <= drift * stored_share;
}

template <typename Value>
std::optional<Value> ChoiceMemory::recall_from(Table<Value>& table, const std::string& key,
                                               std::uint64_t raw_bytes, unsigned most_uses) {
  const auto found = table.find(key);
  if (found == table.end()) return std::nullopt;
  Record& record = found->second.second;
  if (!record.holds_for(raw_bytes, most_uses)) {
    table.erase(found);
    return std::nullopt;
  }
  ++record.uses;
  return found->second.first;
}

template <typename Value>
void ChoiceMemory::learn_into(Table<Value>& table, const std::string& key, const Value& value,
                              std::uint64_t raw_bytes, std::uint64_t stored_bytes) {
  if (raw_bytes == 0) return;
  const auto found = table.find(key);
  if (found != table.end()) {
    if (!found->second.second.agrees(raw_bytes, stored_bytes)) table.erase(found);
    return;
  }
  if (table.size() >= most_entries) table.clear();
  const double share = static_cast<double>(stored_bytes) / static_cast<double>(raw_bytes);
  table.emplace(key, std::pair{value, Record{raw_bytes, share, 0}});
}

std::optional<codecs::Choice> ChoiceMemory::recall(const std::string& key,
                                                   std::uint64_t raw_bytes) {
  const std::lock_guard lock(mutex_);
  return recall_from(choices_, key, raw_bytes, choice_uses);
}

std::optional<ChoiceMemory::Links> ChoiceMemory::recall_links(const std::string& key,
                                                              std::uint64_t raw_bytes) {
  const std::lock_guard lock(mutex_);
  return recall_from(links_, key, raw_bytes, link_uses);
}

void ChoiceMemory::learn(const std::string& key, const codecs::Choice& choice,
                         std::uint64_t raw_bytes, std::uint64_t stored_bytes) {
  const std::lock_guard lock(mutex_);
  learn_into(choices_, key, choice, raw_bytes, stored_bytes);
}

void ChoiceMemory::learn_links(const std::string& key, const Links& links, std::uint64_t raw_bytes,
                               std::uint64_t stored_bytes) {
  const std::lock_guard lock(mutex_);
  learn_into(links_, key, links, raw_bytes, stored_bytes);
}

}  // namespace mcr::aggregation
