// SPDX-License-Identifier: BSD-3-Clause
#include "vol/process.hpp"

namespace mcr::vol {

void end_process() {}

}  // namespace mcr::vol
