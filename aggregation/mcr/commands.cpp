// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/commands.hpp"

#include <array>

namespace mcr::aggregation {
namespace {

constexpr std::array table{
    CommandEntry{"pack", "merge existing rank files into a container", declare_pack},
    CommandEntry{"unpack", "write the rank files of a container, byte for byte", declare_unpack},
    CommandEntry{"ls", "show what a container, a stub's set or a directory holds", declare_ls},
    CommandEntry{"verify", "read everything and name all that is damaged", declare_verify},
};

}  // namespace

std::span<const CommandEntry> all_commands() { return table; }

}  // namespace mcr::aggregation
