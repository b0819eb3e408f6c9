// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/schemes.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "codecs/frames/frame.hpp"
#include "codecs/frames/frame_plan.hpp"

namespace mcr::aggregation {
namespace {

constexpr std::array<std::pair<std::string_view, Scheme>, 5> names{{
    {"aware", Scheme::aware},
    {"aware-block", Scheme::aware_block},
    {"agnostic", Scheme::agnostic},
    {"agnostic-block", Scheme::agnostic_block},
    {"auto", Scheme::aware},
}};

constexpr std::size_t max_hdf5_rank = 32;

/// An extent of a fragment that holds data.
struct Source {
  std::uint32_t part = 0;
  Extent extent;
  const std::vector<std::uint64_t>* shape = nullptr;  ///< in elements of the HDF5 type
};

/// If `block` is 0, lays the sources one after the other. Otherwise cuts them into blocks of
/// `block` bytes, and takes one block of each source in turn.
std::vector<Piece> order(const std::vector<Source>& sources, std::uint64_t block) {
  std::vector<Piece> pieces;
  std::uint64_t position = 0;
  const auto add = [&](std::uint32_t number, std::uint64_t offset, std::uint64_t bytes) {
    const Source& source = sources[number];
    pieces.push_back({source.part, number, source.extent.offset + offset, bytes, position});
    position += bytes;
  };
  if (block == 0) {
    for (std::uint32_t i = 0; i < sources.size(); ++i) add(i, 0, sources[i].extent.bytes);
    return pieces;
  }
  bool any = true;
  for (std::uint64_t begin = 0; any; begin += block) {
    any = false;
    for (std::uint32_t i = 0; i < sources.size(); ++i) {
      if (sources[i].extent.bytes <= begin) continue;
      add(i, begin, std::min(block, sources[i].extent.bytes - begin));
      any = true;
    }
  }
  return pieces;
}

/// The HDF5 dataset of the sources. Sources of equal shape are stacked along a new first axis, and
/// `offsets` is empty. Other sources are joined along the first axis, where source i begins at
/// offsets[i].
struct Stacked {
  std::vector<std::uint64_t> extents;
  std::vector<std::uint64_t> offsets;
};

bool equal_behind_first(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  return a.size() == b.size() && !a.empty() && std::equal(a.begin() + 1, a.end(), b.begin() + 1);
}

Stacked stack(const std::vector<Source>& sources, std::uint64_t type_bytes) {
  const std::vector<std::uint64_t>& first = *sources.front().shape;
  const auto all = [&](const auto& fits) {
    return std::all_of(sources.begin(), sources.end(),
                       [&](const Source& source) { return fits(*source.shape); });
  };
  Stacked result;
  if (first.size() < max_hdf5_rank &&
      all([&](const std::vector<std::uint64_t>& shape) { return shape == first; })) {
    result.extents = first;
    result.extents.insert(result.extents.begin(), sources.size());
    return result;
  }
  const bool same_rows = all(
      [&](const std::vector<std::uint64_t>& shape) { return equal_behind_first(shape, first); });
  std::uint64_t total = 0;
  for (const Source& source : sources) {
    result.offsets.push_back(total);
    total += same_rows ? source.shape->front() : source.extent.bytes / type_bytes;
  }
  result.extents = {total};
  if (same_rows) result.extents.insert(result.extents.end(), first.begin() + 1, first.end());
  return result;
}

std::vector<Source> sources_of(const Variable& variable,
                               const std::vector<std::shared_ptr<const PartLayout>>& layouts) {
  std::vector<Source> sources;
  for (const FragmentRef& fragment : variable.fragments) {
    const DatasetInfo& dataset = layouts[fragment.part]->datasets[fragment.dataset];
    for (const Extent& extent : dataset.extents) {
      sources.push_back({fragment.part, extent, &dataset.shape});
    }
  }
  return sources;
}

/// Returns the shape that codecs see, in the type's innermost elements. Flat data is taken for a
/// mesh if its size may be that of a mesh. This is decided before the data is cut into frames,
/// because the size of a cut piece says nothing about the mesh.
std::vector<std::uint64_t> inner_shape(const std::vector<std::uint64_t>& shape,
                                       const Datatype& type) {
  std::vector<std::uint64_t> result = shape;
  result.insert(result.end(), type.inner.begin(), type.inner.end());
  if (result.size() == 1 && result[0] <= codecs::max_frame_raw_bytes) {
    const codecs::Shape mesh =
        codecs::mesh_shape(codecs::Shape::flat(static_cast<std::uint32_t>(result[0])));
    result.assign(mesh.extent.begin(), mesh.extent.begin() + mesh.rank);
  }
  return result;
}

/// Returns the shapes of the sources. Sets each piece's `shape`, which was the number of its
/// source, to the number of the source's shape. A shape is compared only with the one before it,
/// because the two are mostly equal.
std::vector<std::vector<std::uint64_t>> shapes_of(const std::vector<Source>& sources,
                                                  const Datatype& type,
                                                  std::vector<Piece>& pieces) {
  std::vector<std::vector<std::uint64_t>> shapes;
  std::vector<std::uint32_t> numbers;
  const std::vector<std::uint64_t>* last = nullptr;
  for (const Source& source : sources) {
    if (last == nullptr || (last != source.shape && *last != *source.shape)) {
      shapes.push_back(inner_shape(*source.shape, type));
    }
    last = source.shape;
    numbers.push_back(static_cast<std::uint32_t>(shapes.size() - 1));
  }
  for (Piece& piece : pieces) piece.shape = numbers[piece.shape];
  return shapes;
}

DatasetPlan plan_variable(const Variable& variable, const std::vector<Source>& sources,
                          const Datatype& type, std::uint64_t block, std::uint64_t frame_bytes) {
  DatasetPlan plan;
  plan.name = variable.name;
  plan.type = variable.type;
  plan.type_bytes = type.bytes;
  if (variable.form != RawForm::opaque) {
    plan.element = type.element;
    plan.columns = type.columns;
  }
  plan.pieces = order(sources, block);
  if (block != 0 || variable.form == RawForm::opaque) {
    plan.shapes.assign(1, {});
    for (Piece& piece : plan.pieces) piece.shape = 0;
  } else {
    plan.shapes = shapes_of(sources, type, plan.pieces);
  }
  Stacked stacked;
  if (block != 0) {
    stacked.extents = {plan.raw_bytes() / type.bytes};
  } else if (variable.form == RawForm::opaque) {
    for (const Piece& piece : plan.pieces) stacked.offsets.push_back(piece.position);
    stacked.extents = {plan.raw_bytes()};
  } else {
    stacked = stack(sources, type.bytes);
  }
  plan.set_shape(std::move(stacked.extents), frame_bytes);
  if (block == 0) {
    plan.offsets = std::move(stacked.offsets);
    for (const Source& source : sources) plan.parts.push_back(source.part);
  }
  return plan;
}

}  // namespace

Result<Scheme> parse_scheme(std::string_view name) {
  for (const auto& [known, scheme] : names) {
    if (known == name) return scheme;
  }
  return Error{Cause::usage,
               "scheme=" + std::string(name) +
                   ": allowed are auto, aware, aware-block, agnostic, agnostic-block"};
}

std::string_view scheme_name(Scheme scheme) {
  for (const auto& [known, value] : names) {
    if (value == scheme) return known;
  }
  return "";
}

bool is_aware(Scheme scheme) { return scheme == Scheme::aware || scheme == Scheme::aware_block; }

std::vector<DatasetPlan> plan_variables(
    const std::vector<Variable>& variables,
    const std::vector<std::shared_ptr<const PartLayout>>& layouts, const Datatypes& types,
    std::uint64_t block, std::uint64_t frame_bytes) {
  std::vector<DatasetPlan> plans;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const Variable& variable = variables[i];
    const Datatype& type = types[variable.type];
    const std::vector<Source> sources = sources_of(variable, layouts);
    // A block holds whole elements of the HDF5 type.
    const std::uint64_t whole =
        block == 0 ? 0 : std::max<std::uint64_t>(block / type.bytes, 1) * type.bytes;
    plans.push_back(plan_variable(variable, sources, type, whole, frame_bytes));
    plans.back().variable = static_cast<std::int64_t>(i);
  }
  return plans;
}

std::vector<DatasetPlan> plan_whole_parts(const std::vector<std::uint64_t>& part_bytes,
                                          std::uint32_t bytes_type, std::uint64_t block) {
  static const std::vector<std::uint64_t> none;
  std::vector<Source> sources;
  for (std::uint32_t part = 0; part < part_bytes.size(); ++part) {
    if (part_bytes[part] != 0) sources.push_back({part, {0, part_bytes[part]}, &none});
  }
  if (sources.empty()) return {};
  DatasetPlan plan;
  plan.name = "part_bytes";
  plan.type = bytes_type;
  plan.pieces = order(sources, block);
  plan.shapes.assign(1, {});
  for (Piece& piece : plan.pieces) piece.shape = 0;
  plan.set_shape({plan.raw_bytes()});
  if (block == 0) {
    std::uint64_t total = 0;
    for (const Source& source : sources) {
      plan.parts.push_back(source.part);
      plan.offsets.push_back(total);
      total += source.extent.bytes;
    }
  }
  std::vector<DatasetPlan> plans;
  plans.push_back(std::move(plan));
  return plans;
}

}  // namespace mcr::aggregation
