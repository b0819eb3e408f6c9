// SPDX-License-Identifier: BSD-3-Clause
// An Error of ours as an entry of HDF5's error stack, where programs and their users look for it.
#pragma once

#include "codecs/base/result.hpp"

namespace mcr::vol {

/// Pushes the message; `function` is what the entry says failed.
void push_error(const char* function, const Error& error);

}  // namespace mcr::vol
