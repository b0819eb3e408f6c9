// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/parallel.hpp"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>

namespace mcr::aggregation {

restart::ParallelFor parallel_on(unsigned threads) {
  return [threads](std::size_t count, const std::function<void(std::size_t)>& work) {
    oneapi::tbb::task_arena arena(static_cast<int>(std::max(threads, 1U)));
    arena.execute([&] { oneapi::tbb::parallel_for(std::size_t{0}, count, work); });
  };
}

}  // namespace mcr::aggregation
