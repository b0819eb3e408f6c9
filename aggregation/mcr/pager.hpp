// SPDX-License-Identifier: BSD-3-Clause
// Long text, shown page by page on a terminal.
#pragma once

#include <string>

namespace mcr::aggregation {

/// Prints the text. If standard output is a terminal, the text goes through $PAGER, or else through less or more.
void show_text(const std::string& text);

}  // namespace mcr::aggregation
