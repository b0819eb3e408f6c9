// SPDX-License-Identifier: BSD-3-Clause
// The four schemes of mcrEngine: in which order the bytes of parts are laid into datasets. `aware`:
// a variable's fragments one after the other, by rank. `aware-block`: blocks of a variable's
// fragments, round robin over the fragments. `agnostic`: whole parts one after the other, as one
// dataset of bytes. `agnostic-block`: blocks of whole parts, round robin.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "aggregation/merge/plan.hpp"
#include "aggregation/merge/similarity.hpp"

namespace mcr::aggregation {

enum class Scheme : std::uint8_t { agnostic, agnostic_block, aware, aware_block };

/// Parses the name of a scheme; "auto" is aware. Cause::usage: there is no such scheme; the message
/// lists the schemes.
Result<Scheme> parse_scheme(std::string_view name);
std::string_view scheme_name(Scheme scheme);
bool is_aware(Scheme scheme);

/// Plans one dataset for each variable. If `block` is 0, the scheme is aware; otherwise it is
/// aware-block, with blocks of about `block` bytes. Frames have at most about `frame_bytes` bytes.
std::vector<DatasetPlan> plan_variables(
    const std::vector<Variable>& variables,
    const std::vector<std::shared_ptr<const PartLayout>>& layouts, const Datatypes& types,
    std::uint64_t block, std::uint64_t frame_bytes = frame_target_bytes);

/// Plans the one dataset of the agnostic schemes. If `block` is 0, the scheme is agnostic,
/// otherwise agnostic-block.
std::vector<DatasetPlan> plan_whole_parts(const std::vector<std::uint64_t>& part_bytes,
                                          std::uint32_t bytes_type, std::uint64_t block);

}  // namespace mcr::aggregation
