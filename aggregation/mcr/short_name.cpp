// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/short_name.hpp"

#include <fcntl.h>

#include <array>
#include <set>
#include <string_view>

#include "aggregation/commit/set_files.hpp"
#include "aggregation/mcr/distinct_sets.hpp"
#include "codecs/base/checksum.hpp"
#include "restart/base/name_text.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/printable.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/format/container_name.hpp"
#include "restart/format/mask_words.hpp"
#include "restart/format/masked_name.hpp"

namespace mcr::aggregation {
namespace {

constexpr std::string_view files_word = "files";

/// Replaces each word that stands for digits.
std::string without_words(std::string text) {
  constexpr std::array<std::string_view, 4> words{restart::rank_word, restart::ranks_word,
                                                  restart::part_word, restart::number_word};
  for (const std::string_view word : words) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at))
      text.replace(at, word.size(), "N");
  }
  return text;
}

bool is_plain(std::string_view character) {
  if (character.size() > 1) return true;
  const char c = character.front();
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("+,-./:=_").find(c) != std::string_view::npos;
}

/// Replaces the characters that a shell may interpret or a terminal obeys.
std::string unquoted(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const restart::Character character = restart::first_character(text);
    const std::string_view bytes = text.substr(0, character.bytes);
    text.remove_prefix(character.bytes);
    const bool stays = is_plain(bytes) && restart::printable(bytes) == bytes;
    plain += stays ? std::string(bytes) : "_";
  }
  // An option, or zsh's =command.
  if (plain.starts_with('-') || plain.starts_with('=')) plain.front() = '_';
  return plain;
}

/// Returns the masked name that is part of the beginning of containers' names.
std::string masked_part(const std::string& beginning) {
  const auto parsed =
      restart::parse_container_name(beginning + restart::container_suffix(0, 0, {}));
  return parsed ? parsed->masked_name : beginning;
}

/// The last component of the short name. `beginning` is that of the containers' names.
std::string last_of_set(const std::string& beginning) {
  const std::string sum = restart::hexadecimal(checksum(as_bytes(beginning)));
  return unquoted(without_words(masked_part(beginning))) + "@" + sum.substr(sum.size() - 8);
}

std::string last_of_files(const std::string& beginning) {
  const std::string pattern = restart::pattern_of(masked_part(beginning));
  return unquoted(without_words(pattern)).append("@").append(files_word);
}

/// Returns the directory in which the short name looks as if the files lay in it. A directory of
/// containers with another name than mcr/ is named itself.
std::string home_of(const std::string& prefix) {
  const std::string directory = restart::parent_of(prefix);
  const std::string home =
      restart::name_of(directory) == "mcr" ? restart::parent_of(directory) : directory;
  return home == "." ? "" : home.ends_with('/') ? home : home + "/";
}

/// Finds the containers of one short name.
class Search {
 public:
  explicit Search(std::string wanted) : wanted_(std::move(wanted)) {}

  void look_in(const std::string& directory) {
    for (const NamedContainer& container : containers_in(directory, "")) {
      const std::string name = restart::name_of(container.path);
      if (restart::parse_bundle_name(name)) {
        look_in_bundle(container.path);
      } else if (const std::string beginning = name.substr(0, name.rfind(".r") + 1);
                 fits(beginning)) {
        found.push_back(container);
      }
    }
  }

  /// Compares the wanted name with the distinct names of the sets (distinct_sets.hpp).
  void look_for_distinct_names_in(const std::string& directory) {
    for (NamedContainer& container : containers_of_distinct_name(
             directory, [this](const std::string& beginning) { return fits(beginning); }))
      found.push_back(std::move(container));
  }

  std::vector<NamedContainer> found;
  std::set<std::string> sets;  ///< the beginnings of their containers' names

 private:
  bool fits(const std::string& beginning) {
    const bool is_set = last_of_set(beginning) == wanted_;
    if (is_set) sets.insert(beginning);
    return is_set ||
           (!restart::is_masked(masked_part(beginning)) && last_of_files(beginning) == wanted_);
  }

  void look_in_bundle(const std::string& path) {
    const auto reader = restart::ContainerReader::open(AT_FDCWD, path);
    if (!reader) return;
    const restart::SetIdentity& all = (*reader)->set();
    for (std::size_t i = 0; i < all.bundled.size(); ++i) {
      const std::string beginning = name_prefix_of(restart::set_of_part(all, i));
      if (!fits(beginning)) continue;
      // All sets of a bundle have names that differ in numbers only.
      const bool are_all = wanted_.ends_with(files_word);
      found.push_back({path, are_all ? std::string() : beginning, {}});
      return;
    }
  }

  std::string wanted_;
};

}  // namespace

std::string short_name(const std::string& prefix) {
  return home_of(prefix) + last_of_set(restart::name_of(prefix));
}

std::string short_name_of_files(const std::string& prefix) {
  return home_of(prefix) + last_of_files(restart::name_of(prefix));
}

Result<std::vector<NamedContainer>> containers_of_short_name(const std::string& argument) {
  const std::string wanted = restart::name_of(argument);
  if (wanted.find('@') == std::string::npos) return std::vector<NamedContainer>();
  Search search(wanted);
  const std::string home = restart::parent_of(argument);
  search.look_in(home);
  if (const std::string below = in_directory(home, "mcr"); leads_nowhere_else(below))
    search.look_in(below);
  if (search.found.empty()) search.look_for_distinct_names_in(home);
  if (search.sets.size() > 1) {
    std::string names;
    for (const std::string& set : search.sets) names += (names.empty() ? "" : ", ") + set;
    return Error{Cause::usage, argument + " is the short name of several sets: " + names +
                                   ". Name the beginning of the containers' paths"};
  }
  return std::move(search.found);
}

}  // namespace mcr::aggregation
