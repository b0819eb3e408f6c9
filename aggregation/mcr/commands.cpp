// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/commands.hpp"

#include <array>

namespace mcr::aggregation {
namespace {

constexpr std::array table{
    CommandEntry{"pack", "merge existing rank files into a container", declare_pack},
    CommandEntry{"unpack", "write the rank files of a container, byte for byte", declare_unpack},
    CommandEntry{"ls", "show what a container, a stub's set or a directory holds", declare_ls},
    CommandEntry{"verify", "read containers completely and name everything that is damaged",
                 declare_verify},
    CommandEntry{"recover", "bring to storage what dead jobs left in memory; repair stubs",
                 declare_recover},
    CommandEntry{"latest", "name the newest whole set in and below a directory", declare_latest},
    CommandEntry{"status", "show what lies in this node's stage", declare_status},
    CommandEntry{"drain", "wait until every file closed on this node is committed", declare_drain},
    CommandEntry{"gc", "find containers that are no longer needed", declare_gc},
    CommandEntry{"config", "show every setting and where its value came from", declare_config},
    CommandEntry{"doctor", "check that mcr intercepts a program, or say what to fix",
                 declare_doctor},
    CommandEntry{"run", "run a program with mcr and wait until its files are committed",
                 declare_run},
    CommandEntry{"trace", "show when each step of a drain (fetch, encode, write) was busy",
                 declare_trace},
    CommandEntry{"leader", "the process per node that drains the stage (started by the plugin)",
                 declare_leader},
    CommandEntry{"leaders", "start and stop leaders that outlive a program's job step",
                 declare_leaders},
    CommandEntry{"help", "show a page of the guide, or the manual page of a command", declare_help},
    CommandEntry{"completion", {}, declare_completion},
};

}  // namespace

std::span<const CommandEntry> all_commands() { return table; }

}  // namespace mcr::aggregation
