// SPDX-License-Identifier: BSD-3-Clause
// A tool of the build: prints docs/settings.md, or with --man the source of the page
// mcr-settings(7).
#include <cstdio>
#include <cstring>
#include <string>

#include "restart/settings/settings.hpp"

namespace {

using mcr::restart::SettingRow;

/// Escapes the markers of scdoc in plain text.
std::string literally(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '*' || c == '_' || c == '<' || c == '#' || c == '[') out += '\\';
    out += c;
  }
  return out;
}

std::string manual_page() {
  std::string page =
      "mcr-settings(7)\n\n"
      "# NAME\n\n"
      "mcr-settings - what can be set, and where\n\n"
      "# DESCRIPTION\n\n"
      "A setting can be given in five places. If several places give it, the first one of this "
      "list counts:\n\n"
      "- the text after the connector's name: HDF5\\_VOL\\_CONNECTOR=\"mcr keep=2;profile=fast\"\n"
      "- variables: MCR\\_KEEP=2, MCR\\_CODEC\\_DOUBLE=...\n"
      "- mcr.conf in the directory of the checkpoint\n"
      "- mcr/mcr.conf in the user's configuration directory ($XDG\\_CONFIG\\_HOME, else "
      "~/.config)\n"
      "- etc/mcr.conf of the installation\n\n"
      "mcr.conf is TOML: keep = 2, profile = \"fast\", \\[codec] with double = \"...\" below it. "
      "*mcr config* prints each setting with its value and the place that the value comes from.\n\n"
      "An unknown key or a value that is not allowed is an error, before any file is touched.\n\n"
      "An mcr.conf beside checkpoints may have been copied with another user's results. So stage, "
      "trace, allow, match, launch, rank, ranks, node, gc, team\\_start and container\\_dir "
      "are ignored there with a warning: set them in one of the other places. If "
      "other users may write to mcr.conf or to the directory of the checkpoint, or rename the "
      "directory or one above it, a mistake in it is "
      "a warning only, and the file is ignored. Settings that reach further than the files there "
      "(stage, trace, allow, match, launch, rank, ranks, node, gpu, gpu\\_memory, exit, "
      "exit\\_wait, log, gc, team\\_start and container\\_dir) are then left out, and no "
      "duration counts as more than 10 min. A file "
      "that belongs to neither the user nor root is ignored with a warning, and so is any in a "
      "sticky directory to which "
      "other users may write.\n\n"
      "SIZE: 256 MiB, 1.5 GB, 64k, 100 (bytes). DURATION: 250 ms, 10 s, 5 min, 1 h, 10 "
      "(seconds).\n\n"
      "# SETTINGS\n"
      "\n";
  for (const SettingRow& row : mcr::restart::settings_table()) {
    page +=
        "*" + literally(row.name) + "* = " + literally(row.allowed) + "\n\t" + literally(row.help);
    if (!row.default_value.empty()) page += " Default: " + literally(row.default_value) + ".";
    page += "\n\n";
  }
  return page + "# SEE ALSO\n\n*mcr*(7), *mcr-config*(1)\n";
}

}  // namespace

int main(int count, char** words) {
  const bool manual = count > 1 && std::strcmp(words[1], "--man") == 0;
  const std::string page = manual ? manual_page() : mcr::restart::settings_page();
  return std::fwrite(page.data(), 1, page.size(), stdout) == page.size() ? 0 : 1;
}
