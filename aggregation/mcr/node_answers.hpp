// SPDX-License-Identifier: BSD-3-Clause
// What the nodes of a step (node_leaders.hpp) tell the mcr that started the step. Each node's process, `mcr …
// --as-node`, prints two lines among its output, and ends with status 0, about which srun prints nothing:
//   mcr-node NAME begins [served]                  served: another resident serves this node already
//   mcr-node NAME ends STATUS [LAUNCHES]           LAUNCHES: 1 if a launch began while it ran, 0 if not
// A process that cannot begin prints only the second line, and the reason to its standard error. NAME is the host's
// name, because several nodes may have the same node=.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcr::aggregation {

struct NodeAnswer {
  bool has_begun = false;
  bool is_served = false;            ///< by a resident that was there before
  std::optional<int> status;         ///< nothing: the process has not ended, or was killed
  std::optional<bool> has_launches;  ///< nothing: unknown
};

/// Print this node's lines.
void print_node_begin(bool is_served = false);
void print_node_end(int status, std::optional<bool> has_launches = std::nullopt);

class NodeAnswers {
 public:
  /// False if the line is no node's answer.
  bool take(std::string_view line);

  [[nodiscard]] const std::map<std::string, NodeAnswer>& by_node() const { return by_node_; }
  /// Returns the nodes, separated by commas, for which `condition` holds.
  template <typename Condition>
  [[nodiscard]] std::string names(const Condition& condition) const {
    std::string list;
    for (const auto& [name, answer] : by_node_)
      if (condition(answer)) list += (list.empty() ? "" : ", ") + name;
    return list;
  }
  [[nodiscard]] std::size_t ended() const;
  /// Returns the nodes on which the process could not begin.
  [[nodiscard]] std::string never_begun() const;
  /// Returns the largest status of the nodes that have ended.
  [[nodiscard]] int worst_status() const;
  /// True if a launch began on a node, false if none began on `nodes` nodes; nothing if that is unknown.
  [[nodiscard]] std::optional<bool> has_launches(std::size_t nodes) const;

 private:
  std::map<std::string, NodeAnswer> by_node_;
};

}  // namespace mcr::aggregation
