// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/pages.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <sstream>

#include "aggregation/mcr/surroundings.hpp"
#include "restart/base/file.hpp"

namespace mcr::aggregation {
namespace {

constexpr std::size_t most_bytes = 1U << 20;

}  // namespace

std::vector<std::string> page_names() {
  std::istringstream words(MCR_PAGES);
  std::vector<std::string> names;
  for (std::string name; words >> name;) names.push_back(name);
  return names;
}

Result<std::string> read_page(const std::string& name) {
  const std::string path = beside_command(MCR_PAGES_FROM_COMMAND) + "/" + name + ".md";
  const Bytes text = MCR_TRY(restart::read_file(AT_FDCWD, path, most_bytes));
  return std::string(as_text(text));
}

std::string title_of(const std::string& text) {
  const std::size_t begin = text.starts_with("# ") ? 0 : text.find("\n# ");
  if (begin == std::string::npos) return {};
  const std::size_t title = text.find("# ", begin) + 2;
  return text.substr(title, text.find('\n', title) - title);
}

std::string manual_page(const std::string& command) {
  const std::string path = beside_command(MCR_MANUAL_FROM_COMMAND) + "/mcr" +
                           (command.empty() ? "" : "-" + command) + ".1";
  for (const char* const packed : {"", ".gz", ".xz", ".zst"}) {  // as distributions pack them
    if (::access((path + packed).c_str(), R_OK) == 0) return path + packed;
  }
  return {};
}

}  // namespace mcr::aggregation
