// SPDX-License-Identifier: BSD-3-Clause
// The descriptors that a process may have are counted by their numbers, and those of a program that
// opens many files are the program's. A file of ours gets a number above the program's own (soft)
// limit as soon as half of it is in use: nothing that the program opens then fails for our sake. And
// none gets the number of a standard stream, whoever was started without: what prints there, or says
// something to nobody, would print into it.
#pragma once

namespace mcr::restart {

/// From now on File::open and its like give such numbers. For the plugin; a leader's are its own.
void spare_numbers_of_program();

/// The same file under a number that is no standard stream's, and above the soft limit where the lower
/// half is used up and the hard limit allows it; else the number as it is. `descriptor` is closed where
/// another one is returned.
int spared_number(int descriptor);

/// True where half of the numbers are in use and this one is the program's all the same.
bool are_numbers_few(int descriptor);

}  // namespace mcr::restart
