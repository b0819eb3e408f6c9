// SPDX-License-Identifier: BSD-3-Clause
// mcrEngine's four orders of bytes.
// `aware`: a variable's fragments one after the other, by rank.
// `aware-block`: blocks of a variable's fragments, round robin over the fragments.
// `agnostic`: whole parts one after the other, as one dataset of bytes.
// `agnostic-block`: blocks of whole parts, round robin.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "aggregation/merge/plan.hpp"
#include "aggregation/merge/similarity.hpp"

namespace mcr::aggregation {

enum class Scheme : std::uint8_t { agnostic, agnostic_block, aware, aware_block };

/// Parses a scheme; "auto" is aware. The message of Cause::usage lists the schemes.
Result<Scheme> parse_scheme(std::string_view name);
std::string_view scheme_name(Scheme scheme);
bool is_aware(Scheme scheme);

/// Plans one dataset for each variable. `block` 0: aware; else aware-block with blocks of about
/// `block` bytes. `frame_bytes`: about the largest size of a frame.
std::vector<DatasetPlan> plan_variables(
    const std::vector<Variable>& variables,
    const std::vector<std::shared_ptr<const PartLayout>>& layouts, const Datatypes& types,
    std::uint64_t block, std::uint64_t frame_bytes = frame_target_bytes);

/// Plans the one dataset of the agnostic schemes. `block` 0: agnostic, else agnostic-block.
std::vector<DatasetPlan> plan_whole_parts(const std::vector<std::uint64_t>& part_bytes,
                                          std::uint32_t bytes_type, std::uint64_t block);

}  // namespace mcr::aggregation
