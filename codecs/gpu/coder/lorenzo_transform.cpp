// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/gpu/coder/lorenzo_transform.hpp"

#include <algorithm>

#include "codecs/gpu/kernels/lorenzo_decode_kernels.hpp"
#include "codecs/gpu/kernels/sum_kernels.hpp"
#include "codecs/lorenzo/brick_views.hpp"
#include "codecs/lorenzo/lorenzo_rows.hpp"

namespace mcr::codecs::gpu {
namespace {

struct LorenzoBricks {
  std::vector<LorenzoBrick> bricks;
  bool has_sums = false;    ///< bricks of order 1 that predict integers
  bool has_floats = false;  ///< bricks of order 1 that predict in floating point
  bool has_orders = false;  ///< bricks of other orders
};

LorenzoBricks bricks_of(const Layout& layout, ByteSpan parameters) {
  LorenzoBricks all;
  for_each_brick(layout, parameters, [&](const BrickView& view, std::size_t offset, std::size_t) {
    const LorenzoBox box = box_for(view.dimensions, view.box);
    all.bricks.push_back({offset / layout.type.size, box.planes, box.rows, box.columns,
                          static_cast<std::uint32_t>(view.dimensions),
                          static_cast<std::uint32_t>(view.order), view.floating ? 1U : 0U});
    all.has_orders |= view.order > 1;
    all.has_floats |= view.order == 1 && view.floating;
    all.has_sums |= view.order == 1 && !view.floating;
  });
  return all;
}

std::uint64_t is_floating(const Layout& layout) {
  return layout.type.kind == ElementKind::floating ? 1 : 0;
}

std::uint64_t numbers_of_box(const LorenzoBrick& brick) {
  return brick.planes * brick.rows * brick.columns;
}

/// Returns where brick `b` ends.
std::uint64_t end_of(const Layout& layout, const std::vector<LorenzoBrick>& bricks, std::size_t b) {
  return b + 1 == bricks.size() ? layout.count() : bricks[b + 1].begin;
}

/// The boxes of all bricks that are not running sums.
std::vector<WaveBox> boxes_of(const Layout& layout, const std::vector<LorenzoBrick>& bricks) {
  std::vector<WaveBox> boxes;
  for (std::size_t b = 0; b < bricks.size(); ++b) {
    if (is_running_sum(bricks[b])) continue;
    const std::uint64_t end = end_of(layout, bricks, b);
    const std::uint64_t box = numbers_of_box(bricks[b]);
    for (std::uint64_t begin = bricks[b].begin; begin < end; begin += box) {
      boxes.push_back({begin, b});
    }
  }
  return boxes;
}

}  // namespace

Result<void> do_lorenzo(Device& device, const DeviceData& data, const Layout& layout,
                        ByteSpan parameters) {
  const LorenzoBricks all = bricks_of(layout, parameters);
  const DeviceAddress table = MCR_TRY(device.upload_copy(all.bricks));
  const std::uint64_t count = layout.count();
  const auto launch = [&](KernelNumber kernel) {
    return device.launch_for(kernel, count,
                             {data.at, data.spare, count, layout.type.size, table,
                              all.bricks.size(), is_floating(layout)});
  };
  if (all.has_sums || all.has_floats) MCR_TRY(launch(kernel::lorenzo));
  if (all.has_orders) MCR_TRY(launch(kernel::lorenzo_order));
  return {};
}

Result<void> sum_words(Device& device, DeviceAddress from, std::uint64_t count, std::uint64_t size,
                       bool from_zigzag, DeviceAddress to) {
  const std::uint64_t tiles = (count + words_of_tile - 1) / words_of_tile;
  const std::uint64_t unzigzag = from_zigzag ? 1 : 0;
  const DeviceAddress sums = MCR_TRY(device.reserve(tiles * sizeof(std::uint64_t)));
  MCR_TRY(device.launch(kernel::tile_sums, tiles, {from, count, size, sums, unzigzag}));
  MCR_TRY(device.launch(kernel::tile_offsets, 1, {sums, tiles}));
  return device.launch(kernel::tile_scan, tiles, {from, count, size, sums, unzigzag, to});
}

Result<void> undo_lorenzo(Device& device, const DeviceData& data, const Layout& layout,
                          ByteSpan parameters) {
  const LorenzoBricks all = bricks_of(layout, parameters);
  const DeviceAddress table = MCR_TRY(device.upload_copy(all.bricks));
  const std::uint64_t count = layout.count();
  const std::uint64_t size = layout.type.size;
  const std::uint64_t bricks = all.bricks.size();
  if (all.has_sums) {
    const DeviceAddress sums = MCR_TRY(device.reserve(count * size));
    MCR_TRY(sum_words(device, data.at, count, size, true, sums));
    MCR_TRY(
        device.launch_for(kernel::row_sums, count, {sums, data.spare, count, size, table, bricks}));
    for (const std::uint64_t along_planes : {std::uint64_t{0}, std::uint64_t{1}}) {
      MCR_TRY(device.launch_for(kernel::box_sums, count,
                                {data.spare, along_planes, count, size, table, bricks}));
    }
    if (is_floating(layout) != 0) {
      MCR_TRY(
          device.launch_for(kernel::to_floats, count, {data.spare, 0, count, size, table, bricks}));
    }
  }
  const std::vector<WaveBox> boxes = boxes_of(layout, all.bricks);
  if (boxes.empty()) return {};
  const DeviceAddress list = MCR_TRY(device.upload_copy(boxes));
  return device.launch(kernel::lorenzo_waves, boxes.size(),
                       {data.at, data.spare, list, size, table, is_floating(layout)});
}

bool lorenzo_undoes_fast(const Layout& layout, ByteSpan parameters) {
  // A turn of a wave, 256 numbers, takes about half a microsecond; 4096 of them, two milliseconds.
  constexpr std::uint64_t most_turns = 4096;
  constexpr std::uint64_t least_for_boxes = std::uint64_t{1} << 20;
  const std::vector<LorenzoBrick> bricks = bricks_of(layout, parameters).bricks;
  std::uint64_t box_bytes = 0;
  for (std::size_t b = 0; b < bricks.size(); ++b) {
    const LorenzoBrick& brick = bricks[b];
    if (is_running_sum(brick)) continue;
    const std::uint64_t numbers = end_of(layout, bricks, b) - brick.begin;
    box_bytes += numbers / numbers_of_box(brick) * sizeof(WaveBox);
    const std::uint64_t waves = brick.planes + brick.rows + brick.columns;
    const std::uint64_t turns = (brick.planes * brick.rows + k_block_threads - 1) / k_block_threads;
    if (waves * turns > most_turns) return false;
  }
  // The list of tiny boxes must not take more memory than the frame.
  return box_bytes <= std::max(layout.count() * layout.type.size, least_for_boxes);
}

}  // namespace mcr::codecs::gpu
