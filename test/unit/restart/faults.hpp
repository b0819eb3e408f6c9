// SPDX-License-Identifier: BSD-3-Clause
// A table of system calls for tests. It counts the calls that change something or may fail, and
// lets one of them misbehave. All other calls go to the operating system unchanged.
#pragma once

#include <cerrno>
#include <string>

#include "restart/base/system.hpp"

namespace mcr::restart {

enum class Fault {
  error,           ///< -1 with `number` in errno, nothing done
  interrupted,     ///< fails once with EINTR
  short_transfer,  ///< half of the bytes of a read or write
};

/// While an object of this class lives, call number `at` misbehaves; 0 is the first call, and -1
/// means none.
class FaultySystem {
 public:
  FaultySystem(long at, Fault fault, int number = EIO);
  ~FaultySystem();
  FaultySystem(const FaultySystem&) = delete;
  FaultySystem& operator=(const FaultySystem&) = delete;

  [[nodiscard]] long calls() const;              ///< number of calls so far
  [[nodiscard]] const std::string& hit() const;  ///< the call that misbehaved; empty: none yet

 private:
  ReplacedSystemCalls replaced_;
};

}  // namespace mcr::restart
