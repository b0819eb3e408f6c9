// SPDX-License-Identifier: BSD-3-Clause
// The logs in a directory of containers: set-removed.log, set-recovered.log, set-trouble.log.
//
// Another user may be able to move a file of this user's to the name of a log. So a log begins with a line
// that says which log it is, and only such a file is read or written. Each line begins with "# ", so that a
// shell that is given a log runs nothing.
#pragma once

#include <string>
#include <string_view>

#include "codecs/base/result.hpp"
#include "restart/base/file.hpp"

namespace mcr::restart {

/// The first line of the log of that name.
std::string first_line_of_log(std::string_view name);

/// Adds a line to the log `name`: the time, and `text` in printable form. Makes the log if it is missing.
/// Returns the open log. An error if other users may add files to `containers` who could not replace the
/// files beside it, or if a file lies there that does not begin with the log's first line, is not regular
/// or has several names.
Result<File> add_to_log(const File& containers, const std::string& name, const std::string& text);

}  // namespace mcr::restart
