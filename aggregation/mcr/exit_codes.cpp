// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/exit_codes.hpp"

namespace mcr::aggregation {

int exit_code_of(const Error& error) {
  switch (error.cause) {
    case Cause::usage:
      return exit_code::usage;
    case Cause::damaged:
    case Cause::unsupported:
      return exit_code::damaged;
    default:
      return exit_code::failure;
  }
}

}  // namespace mcr::aggregation
