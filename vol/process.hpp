// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace mcr::vol {

/// The library ends (H5_term_library, H5close): all files are closed.
void end_process();

}  // namespace mcr::vol
