// SPDX-License-Identifier: BSD-3-Clause
// A process may have a limited number of descriptors, and a program that opens many files needs
// them itself. As soon as half of the numbers below the program's soft limit are in use, our files
// get numbers above it, so that no open of the program fails because of us. Our files never use
// descriptors 0 to 2, even if the program was started with them closed: a later print would be
// written into our file.
#pragma once

namespace mcr::restart {

/// From now on File::open and the other opens use numbers above the soft limit where needed. Only
/// the plugin calls this; a leader shares no descriptors with a program.
void spare_numbers_of_program();

/// Returns a descriptor of the same file that is not 0 to 2. If half of the numbers are in use and
/// the hard limit allows it, the descriptor lies above the soft limit. Returns `descriptor` itself
/// if it need not or cannot be moved; otherwise `descriptor` is closed.
int spared_number(int descriptor);

/// True if half of the numbers are in use and `descriptor` could not be moved above the soft limit.
bool are_numbers_few(int descriptor);

}  // namespace mcr::restart
