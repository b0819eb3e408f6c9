/* SPDX-License-Identifier: BSD-3-Clause
 * HDF5's registered filter 32015, Zstandard, as its plugin does it: a chunk is one frame. For the
 * benchmarks only, where no plugin need be installed then. */
#pragma once

/* As the filter's registration says. */
enum { zstd_filter = 32015 };

/* 0, or -1 where HDF5 does not take the filter. */
int register_zstd_filter(void);
