// SPDX-License-Identifier: BSD-3-Clause
// What was chosen for the variables of a program's earlier checkpoints. A program writes the same
// variables again and again, and what suited one step suits the next: from the second checkpoint on
// nothing is sampled, until a variable comes out otherwise than expected. A frame that disappoints
// has already been chosen for anew by then (codecs/choice/chosen_frame): memory costs a checkpoint a
// little, never much.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "codecs/choice/chooser.hpp"

namespace mcr::aggregation {

/// Safe to use from several threads. Lives as long as the leader.
class ChoiceMemory {
 public:
  /// Names of linked variables, and why each is.
  using Links = std::map<std::string, std::string>;

  /// `key` names variable, type and set without its step. No value where nothing is known, the
  /// variable's size has changed by more than half, or it is time to look again.
  std::optional<codecs::Choice> recall(const std::string& key, std::uint64_t raw_bytes);
  /// The same for a whole set: which of its variables lie in solid frames (perhaps none).
  std::optional<Links> recall_links(const std::string& key, std::uint64_t raw_bytes);

  /// What `raw_bytes` have become. First said with a new choice; later by itself: where the ratio
  /// has moved by more than a twentieth, what is known is forgotten.
  void learn(const std::string& key, const codecs::Choice& choice, std::uint64_t raw_bytes,
             std::uint64_t stored_bytes);
  void learn_links(const std::string& key, const Links& links, std::uint64_t raw_bytes,
                   std::uint64_t stored_bytes);

 private:
  /// How well something went, and for how long it is believed.
  struct Record {
    std::uint64_t raw_bytes = 0;
    double stored_share = 0;
    unsigned uses = 0;

    [[nodiscard]] bool holds_for(std::uint64_t bytes, unsigned most_uses) const;
    /// False where it went otherwise this time.
    [[nodiscard]] bool agrees(std::uint64_t bytes, std::uint64_t stored) const;
  };
  template <typename Value>
  using Table = std::map<std::string, std::pair<Value, Record>>;

  template <typename Value>
  static std::optional<Value> recall_from(Table<Value>& table, const std::string& key,
                                          std::uint64_t raw_bytes, unsigned most_uses);
  template <typename Value>
  static void learn_into(Table<Value>& table, const std::string& key, const Value& value,
                         std::uint64_t raw_bytes, std::uint64_t stored_bytes);

  std::mutex mutex_;
  Table<codecs::Choice> choices_;
  Table<Links> links_;
};

}  // namespace mcr::aggregation
