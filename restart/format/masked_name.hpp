// SPDX-License-Identifier: BSD-3-Clause
// Finds out which run of digits in a path is the rank (docs/design/capture.md). Pure: every process
// gets the same answer.
//
// A masked name is a path in which these words stand for digits:
//   {rank}   the rank, however many zeros are in front of it
//   {ranks}  in a directory: the rank divided by one constant, as in
//            checkpoints/03/dump-0000000013.h5
//   {part}   a number of the file's own, if files= says so
//
// One path often fits in several ways: DD0003/DD0003.cpu0003 of rank 3. So each part carries all
// candidates that fit, most likely first, and the leader picks the one that the job's unambiguous
// parts support.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcr::restart {

/// Returns `path` with the rank's digits as `{rank}`, most likely candidate first; empty if no run
/// fits. With one rank the result is the path itself. Digits before `from` are not masked.
std::vector<std::string> masked_names(std::string_view path, std::uint32_t rank,
                                      std::uint32_t rank_count, std::size_t from = 0);

/// The same for a path that was resolved from `path_as_passed`. Only the directories that the
/// program named are searched: a number in the working directory or home directory is not the rank.
std::vector<std::string> masked_full_names(std::string_view path_as_passed, std::string_view path,
                                           std::uint32_t rank, std::uint32_t rank_count);

/// `path` is the path of a part of `rank`, and `masked_name` one of its masked names. Returns the
/// paths that the part of `other_rank` may have under that masked name, most likely first. There
/// can be several: the 12 of rank 12 does not tell whether rank 3 writes 3 or 03.
std::vector<std::string> sibling_paths(std::string_view path, std::string_view masked_name,
                                       std::uint32_t rank, std::uint32_t other_rank);

/// True if `masked_name` has none of the words above: it is the path of a single file, which is a
/// set of its own, whichever rank wrote it.
bool is_of_one_file(std::string_view masked_name);

/// Returns the number in `path` at the place of {rank} or {part} in `masked_name`.
std::optional<std::uint64_t> masked_number(std::string_view path, std::string_view masked_name);

/// Returns the directory that the files of all ranks have in common: the one above the first word for
/// digits.
std::string shared_directory(std::string_view masked_name);

/// True if `text`, a path or one component of it, has digits at the words of `masked_name` and
/// equals it elsewhere.
bool fits_mask(std::string_view text, std::string_view masked_name);

/// True if the name has a word for digits.
bool is_masked(std::string_view masked_name);

/// True if the files of the set are told apart by one {part} and by no other word.
bool is_numbered_by_part(std::string_view masked_name);

/// True if the files of the set are told apart by the rank alone: each rank has one, whatever its name is by now.
bool has_one_file_a_rank(std::string_view masked_name);

/// A run of digits in a masked name that is neither a rank nor part of an extension.
struct NameNumber {
  std::size_t begin = 0;
  std::size_t end = 0;
};
std::vector<NameNumber> numbers_in(std::string_view masked_name);

/// Masks the other numbers too (`{n}`). The result for a masked name is its *pattern*; the result
/// for a path names the file's *family*: all files whose paths differ in numbers only.
std::string pattern_of(std::string_view masked_name);

}  // namespace mcr::restart
