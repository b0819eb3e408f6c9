// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/removed_sets.hpp"

#include <fcntl.h>

#include "restart/base/durable_replace.hpp"
#include "restart/base/file.hpp"
#include "restart/base/file_identity.hpp"
#include "restart/base/printable.hpp"
#include "restart/base/trust.hpp"
#include "restart/sets/set_logs.hpp"

namespace mcr::restart {
namespace {

constexpr const char* log_name = "set-removed.log";
constexpr std::uint64_t most_bytes = 256 * 1024;

/// Returns the last bytes of the file, beginning with a whole line.
std::string tail_of(const File& file, std::uint64_t bytes) {
  const auto size = file.size();
  if (!size) return {};
  const std::uint64_t begin = *size > bytes ? *size - bytes : 0;
  Bytes content(static_cast<std::size_t>(*size - begin));
  const auto got = file.read_some_at(begin, content);
  if (!got) return {};
  std::string text(as_text(ByteSpan(content).first(*got)));
  if (begin == 0) return text;
  const std::size_t line = text.find('\n');
  return line == std::string::npos ? std::string() : text.substr(line + 1);
}

}  // namespace

bool note_removed_set(const File& containers, const std::string& prefix, const std::string& why) {
  const auto log = add_to_log(containers, log_name, prefix + "* " + why);
  const auto status = log ? log->status() : Result<struct stat>(log.error());
  if (!status) return false;
  if (static_cast<std::uint64_t>(status->st_size) <= most_bytes ||
      !leads_to(containers.descriptor(), log_name, FileIdentity(*status)))
    return true;
  const std::string rest = first_line_of_log(log_name) + tail_of(*log, most_bytes / 2);
  (void)replace_file(containers.descriptor(), log_name, as_bytes(rest), status->st_mode & 0666,
                     Durability::none)
      .has_value();
  return true;
}

std::optional<std::string> removed_set(const OpenContainers& containers,
                                       const std::string& prefix) {
  const auto log = open_file_beneath(containers.descriptor(), log_name);
  if (!log || !containers.believes_author_of(*log).value_or(false)) return std::nullopt;
  Bytes first(first_line_of_log(log_name).size());
  if (!log->read_at(0, first) || as_text(first) != first_line_of_log(log_name)) return std::nullopt;
  const std::string text = tail_of(*log, most_bytes);
  const std::size_t found = text.rfind(" " + printable(prefix) + "* ");
  if (found == std::string::npos) return std::nullopt;
  std::size_t begin = text.rfind('\n', found) + 1;  // npos + 1 is the beginning
  if (text.compare(begin, 2, "# ") == 0) begin += 2;
  return text.substr(begin, text.find('\n', found) - begin).substr(0, 1024);
}

}  // namespace mcr::restart
