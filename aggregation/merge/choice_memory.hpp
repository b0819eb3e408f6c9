// SPDX-License-Identifier: BSD-3-Clause
// Remembers which codecs were chosen for the variables of a program's earlier checkpoints. A
// program writes the same variables again and again, and a choice that suited one step suits the
// next. So from the second checkpoint on, a variable is sampled again only if it compresses
// differently than before. A frame that is much larger than expected gets a new choice at once
// (codecs/choice/chosen_frame), so that a remembered choice never costs much.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "codecs/choice/chooser.hpp"

namespace mcr::aggregation {

/// Thread-safe. A leader has one for its whole life.
class ChoiceMemory {
 public:
  /// Names of linked variables, and why each is linked.
  using Links = std::map<std::string, std::string>;

  /// Returns the choice for `key`, which names the variable, its type, and its set without the
  /// step. Returns no value if no choice is known, or if the variable's size has changed by more
  /// than half. Also returns no value after 32 uses, so that data is sampled anew.
  std::optional<codecs::Choice> recall(const std::string& key, std::uint64_t raw_bytes);
  /// The same for a whole set: returns its variables that lie in solid frames, which may be none.
  std::optional<Links> recall_links(const std::string& key, std::uint64_t raw_bytes);

  /// Records that the choice compressed `raw_bytes` to `stored_bytes`. The first call for a key
  /// remembers the choice. A later call forgets it if the ratio has changed by more than a
  /// twentieth.
  void learn(const std::string& key, const codecs::Choice& choice, std::uint64_t raw_bytes,
             std::uint64_t stored_bytes);
  void learn_links(const std::string& key, const Links& links, std::uint64_t raw_bytes,
                   std::uint64_t stored_bytes);

 private:
  /// How well a choice compressed, and how often it was used.
  struct Record {
    std::uint64_t raw_bytes = 0;
    double stored_share = 0;
    unsigned uses = 0;

    [[nodiscard]] bool holds_for(std::uint64_t bytes, unsigned most_uses) const;
    /// False if the data compressed differently this time.
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
