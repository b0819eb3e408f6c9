// SPDX-License-Identifier: BSD-3-Clause
// Warnings that all ranks of a job may have: one process of each node prints them, on at most ten nodes.
#pragma once

#include <string_view>

#include "restart/settings/launcher.hpp"

namespace mcr::vol {

/// Prints `message` if no other process of this node has printed it, and fewer than ten nodes have. At most once in this process for each `topic`, a few words that name the trouble.
void warn_once_in_job(const restart::Launcher& who, std::string_view topic,
                      std::string_view message);

/// Call it when the process ends. If this process was the tenth to print a warning, prints how many more
/// nodes had it. Waits up to two seconds, because the nodes of a job end at the same time.
void tell_of_silent_nodes();

}  // namespace mcr::vol
