// SPDX-License-Identifier: BSD-3-Clause
// MCR_ON_DEVICE is 1 where a compiler for CUDA or HIP compiles for an accelerator, else 0.
#pragma once

#if defined(__CUDA__) || defined(__CUDACC__) || defined(__HIP__)
#define MCR_ON_DEVICE 1
#else
#define MCR_ON_DEVICE 0
#endif
