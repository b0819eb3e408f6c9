// SPDX-License-Identifier: BSD-3-Clause
// A libcuda.so.1 of an old driver, which lacks most calls.
int cuInit(unsigned flags) { return (int)flags; }
