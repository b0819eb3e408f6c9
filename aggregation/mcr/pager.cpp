// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/pager.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace mcr::aggregation {
namespace {

constexpr const char* usual_pager =
    "if command -v less > /dev/null; then exec less -FX; elif command -v more > /dev/null; then "
    "exec more; else exec cat; fi";
constexpr int not_found = 127;  // exit status of a shell

/// Returns true if a pager has shown the text, or as much of it as the user wanted.
bool show_in_pager(const std::string& text) {
  const char* const pager = std::getenv("PAGER");
  ::signal(SIGPIPE, SIG_IGN);  // the user may leave the pager before it has read everything
  std::FILE* const pipe = ::popen(pager != nullptr && *pager != '\0' ? pager : usual_pager, "w");
  if (pipe == nullptr) return false;
  std::fputs(text.c_str(), pipe);
  const int status = ::pclose(pipe);
  return !(WIFEXITED(status) && WEXITSTATUS(status) == not_found);
}

}  // namespace

void show_text(const std::string& text) {
  if (::isatty(STDOUT_FILENO) == 1 && show_in_pager(text)) return;
  std::fputs(text.c_str(), stdout);
}

}  // namespace mcr::aggregation
