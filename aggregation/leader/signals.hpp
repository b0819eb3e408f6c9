// SPDX-License-Identifier: BSD-3-Clause
// The signals that users and schedulers send to programs. A scheduler sends them to all job steps of a job, the
// leaders' step included: `--signal=USR1@60` and `scancel --signal=USR1` ask the program for its last checkpoint.
#pragma once

#include <array>
#include <csignal>

namespace mcr::aggregation {

enum class SignalUse {
  ends,     ///< asks a process to end: leaders and residents commit what is published, then end
  message,  ///< means something to the program alone: leaders and residents ignore it
  fault  ///< reports a limit or an error to the process that caused it: leaders and residents ignore it
};

struct SignalRow {
  int number;
  SignalUse use;
};

/// `mcr run` passes all but faults on to the program. SIGABRT: abort() still ends a process that ignores it.
inline constexpr std::array signal_table{
    SignalRow{SIGINT, SignalUse::ends},       SignalRow{SIGTERM, SignalUse::ends},
    SignalRow{SIGHUP, SignalUse::message},    SignalRow{SIGQUIT, SignalUse::message},
    SignalRow{SIGABRT, SignalUse::message},   SignalRow{SIGUSR1, SignalUse::message},
    SignalRow{SIGUSR2, SignalUse::message},   SignalRow{SIGALRM, SignalUse::message},
    SignalRow{SIGVTALRM, SignalUse::message}, SignalRow{SIGPROF, SignalUse::message},
    SignalRow{SIGIO, SignalUse::message},     SignalRow{SIGPWR, SignalUse::message},
    SignalRow{SIGPIPE, SignalUse::fault},     SignalRow{SIGXCPU, SignalUse::fault},
    SignalRow{SIGXFSZ, SignalUse::fault},
};

}  // namespace mcr::aggregation
