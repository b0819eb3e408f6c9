// SPDX-License-Identifier: BSD-3-Clause
// A table of system calls that counts the calls which change something or may fail, and lets one of
// them misbehave. Everything else goes to the operating system.
#pragma once

#include <cerrno>
#include <string>

#include "restart/base/system.hpp"

namespace mcr::restart {

enum class Fault {
  error,           ///< -1 with `number` in errno, nothing done
  interrupted,     ///< EINTR once, then as usual
  short_transfer,  ///< half of the bytes of a read or write
};

/// While it lives, call number `at` (0 is the first one; -1 none) misbehaves.
class FaultySystem {
 public:
  FaultySystem(long at, Fault fault, int number = EIO);
  ~FaultySystem();
  FaultySystem(const FaultySystem&) = delete;
  FaultySystem& operator=(const FaultySystem&) = delete;

  [[nodiscard]] long calls() const;              ///< so far
  [[nodiscard]] const std::string& hit() const;  ///< the call that misbehaved; empty: none yet

 private:
  ReplacedSystemCalls replaced_;
};

}  // namespace mcr::restart
