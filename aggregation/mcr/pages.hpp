// SPDX-License-Identifier: BSD-3-Clause
// The pages that are installed with the command: those of the guide, and the manual pages.
#pragma once

#include <string>
#include <vector>

#include "codecs/base/result.hpp"

namespace mcr::aggregation {

/// Returns the names of the guide's pages ("guide", "failures", …), for users first.
std::vector<std::string> page_names();

/// Returns the page's text, which is Markdown. Cause::system: the page is not installed.
Result<std::string> read_page(const std::string& name);

/// Returns the first heading of a page.
std::string title_of(const std::string& text);

/// Returns the file of the command's manual page, or of mcr's own for ""; "" if the page is not installed.
std::string manual_page(const std::string& command);

}  // namespace mcr::aggregation
