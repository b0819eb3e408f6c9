// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/plan.hpp"

#include <algorithm>

namespace mcr::aggregation {
namespace {

using codecs::Shape;
using restart::MapEntry;

// A frame with more bricks is treated as flat, because its header would cost more bytes than the
// shapes save.
constexpr std::size_t max_bricks = 4096;

std::uint64_t divide_up(std::uint64_t value, std::uint64_t by) {
  return value / by + (value % by != 0);
}

/// Returns the axes of `extents` from `first` on as a brick of `rows` rows. If there are more axes
/// than a brick may have, folds the slowest ones together.
Shape brick_of(const std::vector<std::uint64_t>& extents, std::size_t first, std::uint64_t rows) {
  std::vector<std::uint64_t> kept(extents.begin() + static_cast<std::ptrdiff_t>(first),
                                  extents.end());
  kept.front() = rows;
  while (kept.size() > Shape::max_rank) {
    kept[1] *= kept[0];
    kept.erase(kept.begin());
  }
  Shape shape;
  shape.rank = static_cast<std::uint8_t>(kept.size());
  for (std::size_t i = 0; i < kept.size(); ++i)
    shape.extent[i] = static_cast<std::uint32_t>(kept[i]);
  return shape;
}

Shape flat(std::uint64_t count) { return Shape::flat(static_cast<std::uint32_t>(count)); }

}  // namespace

void append_bricks(const std::vector<std::uint64_t>& extents, std::uint64_t begin,
                   std::uint64_t end, std::vector<Shape>& bricks) {
  std::size_t axis = 0;
  while (axis < extents.size()) {
    std::uint64_t row = 1;
    for (std::size_t i = axis + 1; i < extents.size(); ++i) row *= extents[i];
    if (row == 0) break;
    const std::uint64_t first_row = divide_up(begin, row);
    const std::uint64_t last_row = end / row;
    if (begin / row == (end - 1) / row && !(begin % row == 0 && end % row == 0)) {
      // The range lies within one row: look at that row's own rows.
      const std::uint64_t count = end - begin;
      begin %= row;
      end = begin + count;
      ++axis;
      continue;
    }
    if (begin < first_row * row) bricks.push_back(flat(first_row * row - begin));
    if (first_row < last_row) bricks.push_back(brick_of(extents, axis, last_row - first_row));
    if (last_row * row < end) bricks.push_back(flat(end - last_row * row));
    return;
  }
  bricks.push_back(flat(end - begin));
}

std::uint64_t DatasetPlan::raw_bytes() const {
  return pieces.empty() ? 0 : pieces.back().position + pieces.back().bytes;
}

std::uint64_t DatasetPlan::row_bytes() const {
  std::uint64_t bytes = type_bytes;
  for (std::size_t i = axis + 1; i < extents.size(); ++i) bytes *= extents[i];
  return bytes;
}

std::uint64_t DatasetPlan::chunk_bytes() const { return chunk[axis] * row_bytes(); }

std::uint64_t DatasetPlan::chunks_on_axis() const { return divide_up(extents[axis], chunk[axis]); }

std::uint32_t DatasetPlan::frame_count() const {
  std::uint64_t count = chunks_on_axis();
  for (std::size_t i = 0; i < axis; ++i) count *= extents[i];
  return static_cast<std::uint32_t>(count);
}

DatasetPlan::Frame DatasetPlan::frame(std::uint32_t number) const {
  const std::uint64_t outer = number / chunks_on_axis();
  const std::uint64_t begin = number % chunks_on_axis() * chunk[axis];
  const std::uint64_t rows = std::min(chunk[axis], extents[axis] - begin);
  const std::uint64_t bytes = used.empty() ? rows * row_bytes() : used[number];
  return {(outer * extents[axis] + begin) * row_bytes(), bytes};
}

std::vector<std::uint64_t> DatasetPlan::chunk_offset(std::uint32_t number) const {
  std::vector<std::uint64_t> offset(extents.size());
  offset[axis] = number % chunks_on_axis() * chunk[axis];
  std::uint64_t outer = number / chunks_on_axis();
  for (std::size_t i = axis; i-- > 0; outer /= extents[i]) offset[i] = outer % extents[i];
  return offset;
}

DatasetPlan::Place DatasetPlan::place_of(std::uint64_t position) const {
  const std::uint64_t outer_bytes = extents[axis] * row_bytes();
  const std::uint64_t outer = position / outer_bytes;
  const std::uint64_t inside = position % outer_bytes;
  return {static_cast<std::uint32_t>(outer * chunks_on_axis() + inside / chunk_bytes()),
          static_cast<std::uint32_t>(inside % chunk_bytes())};
}

std::size_t DatasetPlan::piece_at(std::uint64_t position) const {
  const auto behind = std::upper_bound(
      pieces.begin(), pieces.end(), position,
      [](std::uint64_t place, const Piece& piece) { return place < piece.position + piece.bytes; });
  return static_cast<std::size_t>(behind - pieces.begin());
}

codecs::Layout DatasetPlan::layout_of(const Frame& frame) const {
  codecs::Layout layout;
  layout.type = element;
  const std::uint64_t size = element.size;
  const std::uint64_t frame_end = frame.begin + frame.bytes;
  for (std::size_t i = piece_at(frame.begin); i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    if (piece.position >= frame_end || layout.bricks.size() > max_bricks) break;
    const std::uint64_t begin = std::max(frame.begin, piece.position) - piece.position;
    const std::uint64_t end = std::min(frame_end, piece.position + piece.bytes) - piece.position;
    append_bricks(shapes[piece.shape], begin / size, end / size, layout.bricks);
  }
  if (layout.bricks.size() > max_bricks) layout.bricks = {flat(frame.bytes / size)};
  return layout;
}

void DatasetPlan::set_shape(std::vector<std::uint64_t> hdf5_extents, std::uint64_t frame_bytes) {
  extents = std::move(hdf5_extents);
  axis = 0;
  while (axis + 1 < extents.size() && row_bytes() > frame_bytes) ++axis;
  const std::uint64_t rows = std::clamp<std::uint64_t>(frame_bytes / row_bytes(), 1, extents[axis]);
  chunk.assign(extents.size(), 1);
  // Makes all chunks about equally long.
  chunk[axis] = divide_up(extents[axis], divide_up(extents[axis], rows));
  for (std::size_t i = axis + 1; i < extents.size(); ++i) chunk[i] = extents[i];
}

namespace {

/// A piece of a part, and the number of its dataset.
struct Placed {
  const Piece* piece;
  std::uint32_t dataset;
};

MapEntry entry_of(const DatasetPlan& dataset, std::uint32_t number, const Piece& piece) {
  const DatasetPlan::Place place = dataset.place_of(piece.position);
  return {piece.bytes, number, place.frame, place.offset, 0};
}

/// Returns the map of one part, which consists of its pieces and the skeleton between them. Appends
/// the pieces of the skeleton to `skeletons`.
PartMap map_part(std::uint32_t part, std::uint64_t part_bytes, const std::vector<Placed>& placed,
                 const std::vector<DatasetPlan>& datasets, DatasetPlan& skeletons) {
  PartMap map;
  map.skeleton.begin = skeletons.raw_bytes();
  std::uint64_t end = 0;
  const auto add_skeleton = [&](std::uint64_t to) {
    if (to == end) return;
    skeletons.pieces.push_back({part, 0, end, to - end, skeletons.raw_bytes()});
    map.entries.push_back({to - end, MapEntry::skeleton, 0, 0, map.skeleton.bytes});
    map.skeleton.bytes += to - end;
    end = to;
  };
  const Piece* last = nullptr;
  std::uint32_t last_dataset = 0;
  for (const Placed& next : placed) {
    add_skeleton(next.piece->part_offset);
    const bool goes_on = last != nullptr && last_dataset == next.dataset &&
                         last->part_offset + last->bytes == next.piece->part_offset &&
                         last->position + last->bytes == next.piece->position;
    if (goes_on) {
      map.entries.back().length += next.piece->bytes;
    } else {
      map.entries.push_back(entry_of(datasets[next.dataset], next.dataset, *next.piece));
    }
    last = next.piece;
    last_dataset = next.dataset;
    end = last->part_offset + last->bytes;
  }
  add_skeleton(part_bytes);
  return map;
}

}  // namespace

MergePlan finish_plan(std::vector<DatasetPlan> datasets,
                      const std::vector<std::uint64_t>& part_bytes, std::uint32_t bytes_type,
                      std::uint64_t frame_bytes) {
  MergePlan plan;
  plan.datasets = std::move(datasets);
  std::vector<std::vector<Placed>> of_part(part_bytes.size());
  for (std::uint32_t i = 0; i < plan.datasets.size(); ++i) {
    if (plan.datasets[i].kind == restart::DatasetKind::batch) plan.batches = i;
    if (plan.datasets[i].linked) continue;  // its pieces are also those of the batches
    for (const Piece& piece : plan.datasets[i].pieces) of_part[piece.part].push_back({&piece, i});
  }
  DatasetPlan skeletons;
  skeletons.name = "skeletons";
  skeletons.kind = restart::DatasetKind::skeletons;
  skeletons.type = bytes_type;
  skeletons.shapes = {{}};
  for (std::uint32_t part = 0; part < part_bytes.size(); ++part) {
    std::sort(of_part[part].begin(), of_part[part].end(), [](const Placed& a, const Placed& b) {
      return a.piece->part_offset < b.piece->part_offset;
    });
    plan.parts.push_back(map_part(part, part_bytes[part], of_part[part], plan.datasets, skeletons));
  }
  if (!skeletons.pieces.empty()) {
    skeletons.set_shape({skeletons.raw_bytes()}, frame_bytes);
    plan.datasets.push_back(std::move(skeletons));
  }
  return plan;
}

}  // namespace mcr::aggregation
