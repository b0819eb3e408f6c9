// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/solid_plan.hpp"

#include <algorithm>
#include <utility>

namespace mcr::aggregation {
namespace {

/// If a section has more bricks than this, it is treated as flat: the shapes would cost more bytes
/// than they save.
constexpr std::size_t max_section_bricks = 8192;
/// Limits of a frame's directory, far below the limits of readers (max_sections, max_solid_bricks,
/// max_directory_bytes). If there are thousands of small datasets, they are spread over several
/// frames.
constexpr std::size_t max_frame_sections = 16384;
constexpr std::size_t max_frame_bricks = 65536;
static_assert(max_frame_sections <= codecs::max_sections);
static_assert(max_frame_bricks + max_section_bricks <= codecs::max_solid_bricks);

/// Part of a piece, in elements of the codecs' type.
struct Cut {
  const Piece* piece;
  std::uint64_t begin;
  std::uint64_t end;
};

std::uint64_t rows_of(const DatasetPlan& dataset, const Piece& piece) {
  const auto& shape = dataset.shapes[piece.shape];
  const std::uint64_t elements = piece.bytes / dataset.element.size;
  if (shape.size() < 2) return elements;
  return shape.front();
}

/// Returns slab `number` of `count` of a piece: whole rows of its slowest axis.
Cut slab(const DatasetPlan& dataset, const Piece& piece, std::uint64_t number,
         std::uint64_t count) {
  const std::uint64_t elements = piece.bytes / dataset.element.size;
  const std::uint64_t rows = rows_of(dataset, piece);
  const std::uint64_t row = rows == 0 ? 1 : elements / rows;
  const std::uint64_t begin = rows * number / count * row;
  const std::uint64_t end = number + 1 == count ? elements : rows * (number + 1) / count * row;
  return {&piece, begin, end};
}

class BatchPlanner {
 public:
  BatchPlanner(const std::vector<DatasetPlan>& datasets, std::uint64_t frame_bytes)
      : datasets_(datasets), frame_bytes_(frame_bytes) {}

  DatasetPlan run(std::uint32_t bytes_type) {
    batches_.name = "batches";
    batches_.kind = restart::DatasetKind::batch;
    batches_.type = bytes_type;
    batches_.shapes = {{}};
    std::vector<std::uint64_t> part_bytes;
    for (std::uint32_t d = 0; d < datasets_.size(); ++d) {
      if (!datasets_[d].linked) continue;
      for (const Piece& piece : datasets_[d].pieces) {
        if (piece.part >= part_bytes.size()) part_bytes.resize(piece.part + 1U);
        part_bytes[piece.part] += piece.bytes;
      }
    }
    for (std::uint32_t first = 0; first < part_bytes.size();) {
      std::uint64_t bytes = part_bytes[first];
      std::uint32_t last = first + 1;
      while (last < part_bytes.size() && bytes + part_bytes[last] <= frame_bytes_) {
        bytes += part_bytes[last++];
      }
      // Rounds to the nearest number, so that a part that is a little too large stays whole: a mesh
      // that is stored flat is not recognised after it was cut.
      const std::uint64_t slabs =
          std::max<std::uint64_t>(1, (bytes + frame_bytes_ / 2) / frame_bytes_);
      for (std::uint64_t s = 0; s < slabs; ++s) add_frames(first, last, s, slabs);
      first = last;
    }
    pad();
    return std::move(batches_);
  }

 private:
  /// Adds the frames of slab `number` of `slabs` of the parts [first, last): one frame, or several
  /// if there are too many variables for one.
  void add_frames(std::uint32_t first, std::uint32_t last, std::uint64_t number,
                  std::uint64_t slabs) {
    DatasetPlan::SolidFrame frame;
    std::uint64_t used = 0;
    std::size_t bricks = 0;
    const auto finish = [&] {
      if (used == 0) return;
      frame.slab = slabs_;
      batches_.used.push_back(std::exchange(used, 0));
      batches_.solid.push_back(std::exchange(frame, {}));
      bricks = 0;
    };
    for (std::uint32_t d = 0; d < datasets_.size(); ++d) {
      const DatasetPlan& dataset = datasets_[d];
      if (!dataset.linked) continue;
      if (frame.sections.size() == max_frame_sections || bricks >= max_frame_bricks) finish();
      codecs::Layout elements{dataset.element, {}};
      const std::uint64_t begin = used;
      for (const Piece& piece : dataset.pieces) {
        if (piece.part < first || piece.part >= last) continue;
        const Cut cut = slab(dataset, piece, number, slabs);
        if (cut.begin == cut.end) continue;
        const std::uint64_t size = dataset.element.size;
        append_bricks(dataset.shapes[piece.shape], cut.begin, cut.end, elements.bricks);
        Placed placed{{piece.part, 0, piece.part_offset + cut.begin * size,
                       (cut.end - cut.begin) * size, used},
                      batches_.used.size()};
        used += placed.piece.bytes;
        placed_.push_back(placed);
        frame.sources.push_back({d, piece.position + cut.begin * size});
      }
      if (elements.bricks.empty()) continue;
      if (elements.bricks.size() > max_section_bricks) {
        elements.bricks = {
            codecs::Shape::flat(static_cast<std::uint32_t>((used - begin) / dataset.element.size))};
      }
      bricks += elements.bricks.size();
      frame.sections.push_back({dataset.name, section_layout(elements)});
      frame.elements.push_back(std::move(elements));
      frame.datasets.push_back(d);
    }
    finish();
    ++slabs_;
  }

  /// Pads frames to rows of one length, and sets the pieces' positions.
  void pad() {
    const std::uint64_t row =
        batches_.used.empty() ? 1 : *std::max_element(batches_.used.begin(), batches_.used.end());
    for (Placed& placed : placed_) {
      placed.piece.position += placed.frame * row;
      batches_.pieces.push_back(placed.piece);
    }
    batches_.extents = {batches_.used.size(), row};
    batches_.chunk = {1, row};
    batches_.axis = 1;
  }

  struct Placed {
    Piece piece;  ///< position within its frame, until pad()
    std::size_t frame;
  };

  const std::vector<DatasetPlan>& datasets_;
  std::uint64_t frame_bytes_;
  DatasetPlan batches_;
  std::uint32_t slabs_ = 0;  ///< number of slabs whose frames were added
  std::vector<Placed> placed_;
};

}  // namespace

codecs::Layout section_layout(codecs::Layout elements) {
  const codecs::ElementType& type = elements.type;
  if (type.kind != codecs::ElementKind::bytes || type.size % 4 != 0) return elements;
  const std::uint32_t word_bytes = type.size % 8 == 0 ? 8 : 4;
  return codecs::column_layout(
      elements,
      {{codecs::ElementKind::unsigned_integer, word_bytes, false}, type.size / word_bytes});
}

DatasetPlan plan_batches(const std::vector<DatasetPlan>& datasets, std::uint32_t bytes_type,
                         std::uint64_t frame_bytes) {
  return BatchPlanner(datasets, frame_bytes).run(bytes_type);
}

void BatchPlaces::add(const DatasetPlan& batches) {
  std::size_t at = 0;
  for (const DatasetPlan::SolidFrame& frame : batches.solid) {
    for (const DatasetPlan::SolidFrame::Source& source : frame.sources) {
      const Piece& piece = batches.pieces[at++];
      if (source.dataset >= places_.size()) places_.resize(source.dataset + 1U);
      places_[source.dataset].push_back({source.position, piece.bytes, piece.position});
    }
  }
  for (auto& places : places_) {
    std::sort(places.begin(), places.end(),
              [](const Place& a, const Place& b) { return a.position < b.position; });
  }
}

std::vector<codecs::LinkRun> BatchPlaces::runs_of(std::uint32_t dataset,
                                                  const DatasetPlan::Frame& frame,
                                                  std::uint64_t row) const {
  std::vector<codecs::LinkRun> runs;
  const auto& places = places_[dataset];
  auto place =
      std::upper_bound(places.begin(), places.end(), frame.begin,
                       [](std::uint64_t at, const Place& p) { return at < p.position + p.bytes; });
  std::uint64_t done = frame.begin;
  const std::uint64_t end = frame.begin + frame.bytes;
  for (; done < end; ++place) {
    const std::uint64_t inside = done - place->position;
    const std::uint64_t bytes = std::min(place->bytes - inside, end - done);
    const std::uint64_t offset = place->in_batches + inside;
    const bool goes_on =
        !runs.empty() && runs.back().raw_offset + runs.back().bytes == offset && offset % row != 0;
    if (goes_on) {
      runs.back().bytes += bytes;
    } else {
      runs.push_back({offset, bytes});
    }
    done += bytes;
  }
  return runs;
}

}  // namespace mcr::aggregation
