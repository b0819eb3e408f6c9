// SPDX-License-Identifier: BSD-3-Clause
// Which run of digits in a path is the rank (docs/design/capture.md). Pure: the same answer in every
// process.
//
// A masked name is a path in which these words stand for digits:
//   {rank}   the rank, however many zeros are in front of it
//   {ranks}  in a directory: the rank divided by one constant, as in
//            checkpoints/03/dump-0000000013.h5
//   {part}   a number of its own, where files= says so
//
// One path alone often fits several ways: DD0003/DD0003.cpu0003 of rank 3. Therefore each part
// carries all that fit, candidates, most likely first, and the leader picks the one that the job's
// unambiguous parts speak for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcr::restart {

/// `path` with the rank's digits as `{rank}`, most likely candidate first; empty where no run fits.
/// With one rank there is nothing to mask: the path itself. Digits before `from` are left alone.
std::vector<std::string> masked_names(std::string_view path, std::uint32_t rank,
                                      std::uint32_t rank_count, std::size_t from = 0);

/// The same for a path that was resolved from `path_as_passed`: only those of its directories are
/// looked at that the program named (a number in the working directory, or in one's home, is not
/// the rank).
std::vector<std::string> masked_full_names(std::string_view path_as_passed, std::string_view path,
                                           std::uint32_t rank, std::uint32_t rank_count);

/// The paths that another rank's part may have under a masked name of `path`, which is of `rank`;
/// most likely first. Several, because the 12 of rank 12 does not say whether rank 3 writes 3 or
/// 03.
std::vector<std::string> sibling_paths(std::string_view path, std::string_view masked_name,
                                       std::uint32_t rank, std::uint32_t other_rank);

/// True where `masked_name` has no word of the above: it is the path of a single file, which is a set
/// of its own, whichever rank wrote it.
bool is_of_one_file(std::string_view masked_name);

/// The number that stands in `path` where `masked_name` has its {rank} or {part}.
std::optional<std::uint64_t> masked_number(std::string_view path, std::string_view masked_name);

/// Whether `text`, a path or one component of it, has digits where `masked_name` has its words, and
/// is equal to it elsewhere.
bool fits_mask(std::string_view text, std::string_view masked_name);

/// Whether a word stands for digits in it.
bool is_masked(std::string_view masked_name);

/// The masked name with its other numbers masked too (`{n}`): the *pattern* of a name. Of
/// a path it is the *family* of the file: all files whose paths differ in numbers only.
std::string pattern_of(std::string_view masked_name);

}  // namespace mcr::restart
