// SPDX-License-Identifier: BSD-3-Clause
// Which processes of a job print a message that many of them have: one of each node, on at most ten nodes.
// Nodes learn of one another through empty files in the user's cache directory ($XDG_CACHE_HOME/mcr/told,
// else ~/.cache/mcr/told), which the nodes of a cluster share as a rule. If that directory cannot be used,
// one process of each node prints the message: the first one that takes the name of a socket.
//
//   told/LAUNCH/TOPIC@NODE   a node that has the message, made by its first process
//   told/LAUNCH/TOPIC.0 … 9  made by the first ten nodes
#pragma once

#include <cstddef>
#include <string_view>

#include "restart/settings/launcher.hpp"

namespace mcr::restart {

constexpr unsigned most_speaking_nodes = 10;

enum class Turn {
  repeats,      ///< do not print it: another process of this node has had the message
  silent,       ///< do not print it: ten other nodes have printed it
  speaks,       ///< print it
  speaks_last,  ///< print it, and later how many other nodes had it too (silent_nodes())
};

bool is_to_print(Turn turn);

/// `topic` names the message; the same text in all processes of the job. Ask once for each message. At most
/// `most` (1 to 10) nodes speak.
Turn turn_to_speak(const Launcher& who, std::string_view topic,
                   unsigned most = most_speaking_nodes);

/// Returns how many nodes had the message and did not print it.
std::size_t silent_nodes(const Launcher& who, std::string_view topic);

}  // namespace mcr::restart
