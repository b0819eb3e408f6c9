// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/present_mask.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "restart/base/path_names.hpp"
#include "restart/format/mask_words.hpp"
#include "restart/format/masked_name.hpp"
#include "restart/sets/file_of_rank.hpp"
#include "restart/sets/names_here.hpp"
#include "restart/sets/native_members.hpp"
#include "restart/stage/file_at.hpp"

namespace mcr::restart {
namespace {

/// To choose between masks, at most this many ranks' files are looked up.
constexpr std::uint32_t probed_ranks = 4;
/// Of two masked names, at most this many characters before their common end are compared.
constexpr std::size_t compared_characters = 128;

/// Returns the masked name with one character in place of each word, which no other text equals.
std::string with_short_words(std::string text) {
  for (const auto& [word, mark] :
       {std::pair{rank_word, '\1'}, {ranks_word, '\2'}, {part_word, '\3'}}) {
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos;)
      text.replace(at, word.size(), 1, mark);
  }
  return text;
}

/// Returns the length of the longest common subsequence of the ends of two masked names.
std::size_t likeness(const std::string& masked_a, const std::string& masked_b) {
  const auto end_of = [](const std::string& masked) {
    const std::string text = with_short_words(masked);
    return text.substr(text.size() - std::min(text.size(), compared_characters));
  };
  const std::string a = end_of(masked_a);
  const std::string b = end_of(masked_b);
  std::vector<std::size_t> row(b.size() + 1);
  for (const char c : a) {
    std::size_t diagonal = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
      const std::size_t above = row[i + 1];
      row[i + 1] = c == b[i] ? diagonal + 1 : std::max(above, row[i]);
      diagonal = above;
    }
  }
  return row.back();
}

class Masks {
 public:
  Masks(const std::string& containers, uid_t owner, Look& look)
      : containers_(containers), owner_(owner), look_(look) {}

  std::string choose(const Stub& stub, const std::string& path,
                     const std::vector<std::string>& written) {
    auto masks = masked_names(path, stub.rank, stub.rank_count);
    // Most names fit one mask only.
    if (masks.size() <= 1) return masks.empty() ? std::string() : masks.front();
    const NamedFile file{stub, path};
    const std::string masked_name = written_name(file, written, true);
    masks = masks_like(file, masked_name);
    for (const std::string& mask : masks) {
      if (has_mate(file, mask, path, masked_name, true)) return mask;
    }
    for (const std::string& mask : masks) {
      for (const NamedFile& sibling : siblings(file, path, mask)) {
        if (own_mask(sibling) == mask) return mask;
      }
    }
    return masks.front();
  }

 private:
  struct NamedFile {
    const Stub& stub;
    std::string path;
  };

  /// Returns the masks that fit the file's path, those that are most like `masked_name` first.
  static std::vector<std::string> masks_like(const NamedFile& file,
                                             const std::string& masked_name) {
    auto masks = masked_names(file.path, file.stub.rank, file.stub.rank_count);
    if (masks.size() <= 1) return masks;
    std::vector<std::pair<std::size_t, std::string>> rated;
    for (std::string& mask : masks) {
      const std::size_t rate = likeness(mask, masked_name);
      rated.emplace_back(rate, std::move(mask));
    }
    std::stable_sort(rated.begin(), rated.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    for (std::size_t i = 0; i < rated.size(); ++i) masks[i] = std::move(rated[i].second);
    return masks;
  }

  /// Returns the stub at a path, or the one in the note about a native file there; null if there is none.
  const Stub* stub_at(const std::string& path, const std::string& base) {
    const auto [entry, is_new] = seen_.try_emplace({path, base});
    std::optional<Stub>& stub = entry->second;
    if (is_new && !look_.is_over()) {
      FileAt there = file_of_rank(path, base, owner_);
      if (there.kind == FileAt::Kind::closed) look_.note(there.error);
      if (there.is_stub()) stub = std::move(there.stub);
      if (there.kind == FileAt::Kind::plain_file) {
        if (auto note = native_note_in(containers_, path, there.status))
          stub = std::move(note->stub);
      }
    }
    return stub ? &*stub : nullptr;
  }

  /// Returns other ranks' files beside `path`, a present or earlier path of the file, under `mask`. If
  /// the mask is wrong, another rank's file may lie at a rank's name; it does not count.
  std::vector<NamedFile> siblings(const NamedFile& file, const std::string& path,
                                  const std::string& mask) {
    std::vector<NamedFile> found;
    const Stub& stub = file.stub;
    for (std::uint32_t other = 0; other < std::min(stub.rank_count, probed_ranks); ++other) {
      if (other == stub.rank) continue;
      for (const std::string& sibling : sibling_paths(path, mask, stub.rank, other)) {
        const Stub* const there = stub_at(sibling, shared_directory(mask));
        if (there == nullptr || there->rank != other || there->rank_count != stub.rank_count)
          continue;
        found.push_back({*there, sibling});
        break;
      }
    }
    return found;
  }

  /// True if under the mask lies another file of the generation that was written as `masked_name`. If
  /// `is_exact`, a file that seems to be written under another masked name does not count, although
  /// `masked_name` fits it.
  bool has_mate(const NamedFile& file, const std::string& mask, const std::string& path,
                const std::string& masked_name, bool is_exact) {
    const auto mates = siblings(file, path, mask);
    return std::any_of(mates.begin(), mates.end(), [&](const NamedFile& mate) {
      const auto& names = mate.stub.masked_names;
      return mate.stub.launch == file.stub.launch && mate.stub.sequence == file.stub.sequence &&
             std::find(names.begin(), names.end(), masked_name) != names.end() &&
             (!is_exact || written_name(mate, names, false) == masked_name);
    });
  }

  /// Returns the first of the masked names for which another file of the generation lies under a present
  /// name, or under the name at writing; else the first name.
  std::string written_name(const NamedFile& file, const std::vector<std::string>& names,
                           bool is_exact) {
    if (names.size() == 1) return names.front();
    for (const std::string& name : names) {
      for (const std::string& mask : masks_like(file, name)) {
        if (has_mate(file, mask, file.path, name, is_exact)) return name;
      }
      const std::size_t components = components_of(file.stub, name);
      const std::string base =
          file.path.substr(0, file.path.size() - path_tail(file.path, components).size());
      if (has_mate(file, base + path_tail(name, components),
                   base + path_tail(file.stub.path, components), name, is_exact))
        return name;
    }
    return names.empty() ? std::string() : names.front();
  }

  std::string own_mask(const NamedFile& file) {
    const std::string masked_name = written_name(file, file.stub.masked_names, false);
    const auto masks = masks_like(file, masked_name);
    for (const std::string& mask : masks) {
      if (has_mate(file, mask, file.path, masked_name, false)) return mask;
    }
    return masks.empty() ? std::string() : masks.front();
  }

  const std::string& containers_;
  uid_t owner_;
  Look& look_;
  std::map<std::pair<std::string, std::string>, std::optional<Stub>> seen_;  ///< by path and base
};

}  // namespace

std::string present_mask(const Stub& stub, const std::string& path,
                         const std::vector<std::string>& written, const std::string& containers,
                         uid_t owner, Look& look) {
  return Masks(containers, owner, look).choose(stub, path, written);
}

std::string renamed_part_mask(const std::string& path, const std::string& written_as,
                              const std::string& written_mask) {
  const auto number = masked_number(written_as, written_mask);
  if (!number || *number >= std::numeric_limits<std::uint32_t>::max()) return {};
  std::string best;
  std::size_t best_likeness = 0;
  // The number takes the place of a rank.
  for (std::string mask : masked_names(path, static_cast<std::uint32_t>(*number),
                                       std::numeric_limits<std::uint32_t>::max())) {
    const std::size_t word = mask.find(rank_word);
    if (word == std::string::npos) continue;
    mask.replace(word, rank_word.size(), part_word);
    if (!is_numbered_by_part(mask)) continue;
    const std::size_t like = likeness(mask, written_mask);
    if (!best.empty() && like <= best_likeness) continue;
    best = std::move(mask);
    best_likeness = like;
  }
  return best;
}

}  // namespace mcr::restart
