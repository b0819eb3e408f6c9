// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/layout_reuse.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "aggregation/merge/header_values.hpp"
#include "aggregation/merge/link_names.hpp"
#include "aggregation/merge/metadata_checksum.hpp"
#include "aggregation/merge/part_reads.hpp"

namespace mcr::aggregation {
namespace {

constexpr std::size_t comparison_window = 64U << 10;
constexpr std::size_t comparison_step = 64;

std::uint64_t memory_of(const std::vector<AttributeValue>& attributes) {
  std::uint64_t bytes = 0;
  for (const AttributeValue& attribute : attributes) {
    bytes += sizeof attribute + attribute.name.capacity() + attribute.dataspace.capacity() +
             attribute.value.capacity();
    for (const std::string& string : attribute.strings) bytes += sizeof string + string.capacity();
  }
  return bytes;
}

std::uint64_t memory_of(const PartLayout& layout) {
  std::uint64_t bytes = 0;
  for (const DatasetInfo& dataset : layout.datasets) {
    bytes += sizeof dataset + dataset.path.capacity() + dataset.shape.capacity() * 8 +
             dataset.extents.capacity() * sizeof(Extent) + memory_of(dataset.attributes);
  }
  for (const GroupInfo& group : layout.groups) {
    bytes += sizeof group + group.path.capacity() + memory_of(group.attributes);
  }
  return bytes;
}

}  // namespace

class ReferencePart::Maker {
 public:
  Maker(const restart::File& file, std::uint64_t size, const Datatypes& types,
        const WalkedPart& walked)
      : file_(file), types_(types), walked_(walked) {
    part_.size_ = size;
  }

  std::optional<ReferencePart> make() {
    part_.layout_ = walked_.layout;
    auto metadata = PartMetadata::read(file_, part_.size_, *walked_.layout);
    if (!metadata) return std::nullopt;
    part_.metadata_ = std::move(*metadata);
    if (!add_objects()) return std::nullopt;
    add_attributes();
    for (std::uint32_t i = 0; i < walked_.objects.size(); ++i) add_ranges(i);
    if (!names_are_fixed_) add_all_names();
    if (!blocks_are_separate() || !sort_ranges()) return std::nullopt;
    find_forms();
    take_bare_layout();
    count_memory();
    return std::move(part_);
  }

 private:
  /// Notes the objects, and for each the group that contains it. If a group is missing, names must
  /// not change. Returns false if something in the layout is no object, as in a damaged part.
  bool add_objects() {
    std::unordered_map<std::string_view, std::uint32_t> by_path;
    for (const ObjectHeader& header : walked_.objects) {
      Object object{header.path, header.dataset, header.group, none, none};
      if (!object.path.empty()) {
        const std::size_t slash = object.path.rfind('/');
        const auto parent = by_path.find(
            std::string_view(header.path).substr(0, slash == std::string::npos ? 0 : slash));
        if (parent == by_path.end()) {
          names_are_fixed_ = true;
        } else {
          object.parent = parent->second;
        }
      }
      const auto number = static_cast<std::uint32_t>(part_.objects_.size());
      by_path.emplace(header.path, number);
      by_address_.emplace(header.address, number);
      part_.objects_.push_back(std::move(object));
    }
    const auto count = [&](std::size_t Object::*number) {
      return static_cast<std::size_t>(std::count_if(
          part_.objects_.begin(), part_.objects_.end(),
          [&](const Object& object) { return object.*number != ObjectHeader::none; }));
    };
    return count(&Object::dataset) == walked_.layout->datasets.size() &&
           count(&Object::group) == walked_.layout->groups.size();
  }

  [[nodiscard]] const std::vector<AttributeValue>* attributes_of(const Object& object) const {
    if (object.dataset != ObjectHeader::none)
      return &walked_.layout->datasets[object.dataset].attributes;
    if (object.group != ObjectHeader::none) return &walked_.layout->groups[object.group].attributes;
    return nullptr;
  }

  void add_attributes() {
    for (std::uint32_t i = 0; i < part_.objects_.size(); ++i) {
      first_attributes_.push_back(part_.attributes_.size());
      const auto* const attributes = attributes_of(part_.objects_[i]);
      const std::size_t count = attributes == nullptr ? 0 : attributes->size();
      for (std::size_t a = 0; a < count; ++a) part_.attributes_.push_back({i, none, none});
    }
  }

  void add_ranges(std::uint32_t number) {
    const auto header =
        read_header_values(part_.metadata_, walked_.base_address, walked_.objects[number].address);
    if (!header) {  // all of it is compared exactly
      blocks_.push_back({walked_.objects[number].address, 1});
      names_are_fixed_ = true;
      return;
    }
    blocks_.insert(blocks_.end(), header->blocks.begin(), header->blocks.end());
    // In a new-style group a name may contain a slash, so that paths do not tell an object's group.
    if (header->is_new_style_group) names_are_fixed_ = true;
    for (const HeaderValue& value : header->values) add_value(number, value);
    part_.checked_.insert(part_.checked_.end(), header->checked.begin(), header->checked.end());
    if (header->symbol_table) tables_.push_back({number, *header->symbol_table});
  }

  /// Adds the ranges of the names of all links; none if a group is not understood.
  void add_all_names() {
    std::vector<LinkNames> found;
    for (const auto& [number, table] : tables_) {
      auto names = read_link_names(part_.metadata_, walked_.base_address, table);
      if (!names) return;
      found.push_back(std::move(*names));
    }
    has_names_.resize(part_.objects_.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      blocks_.insert(blocks_.end(), found[i].blocks.begin(), found[i].blocks.end());
      if (!found[i].names.empty()) add_names(tables_[i].first, found[i].names);
    }
  }

  void add_names(std::uint32_t number, const std::vector<LinkName>& names) {
    has_names_[number] = true;
    groups_.push_back({});
    for (const LinkName& name : names) {
      groups_.back().push_back(static_cast<std::uint32_t>(part_.ranges_.size()));
      part_.ranges_.push_back(
          {name.offset, static_cast<std::uint32_t>(name.bytes), Range::link_name});
      link(number, name, groups_.back().back());
    }
  }

  /// Notes that the object's name is in that range, if the walk has found the object by that name.
  void link(std::uint32_t group, const LinkName& name, std::uint32_t range) {
    const auto found = by_address_.find(name.object);
    if (found == by_address_.end()) return;
    Object& object = part_.objects_[found->second];
    if (object.parent != group) return;
    const std::size_t slash = object.path.rfind('/');
    const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
    if (std::string_view(object.path).substr(begin) == part_.text_of(part_.ranges_[range]))
      object.name = range;
  }

  void add_value(std::uint32_t number, const HeaderValue& value) {
    const auto bytes = part_.metadata_.at(value.offset, value.bytes);
    if (!bytes) return;
    Range range{value.offset, static_cast<std::uint32_t>(value.bytes), Range::unused};
    const auto* const attributes = attributes_of(part_.objects_[number]);
    if (value.attribute && attributes != nullptr) {
      const auto shown = std::find_if(
          attributes->begin(), attributes->end(),
          [&](const AttributeValue& attribute) { return attribute.name == *value.attribute; });
      if (shown == attributes->end()) {
        // Whether HDF5 can read strings depends on the reference to them.
        if (value.may_refer_to_heap) return;
      } else {
        // The value must be what HDF5 reads from these bytes. Padding follows it. An element that
        // refers to the heap takes other bytes in memory than in the file, for example a pointer.
        const std::size_t count = shown->value.size();
        const Datatype& type = types_[shown->type];
        if (type.refers_to_heap || type.bytes != value.element_bytes || count == 0 ||
            count > bytes->size() ||
            !std::equal(shown->value.begin(), shown->value.end(), bytes->begin()))
          return;
        if (count < bytes->size()) {
          part_.ranges_.push_back({range.offset + count,
                                   static_cast<std::uint32_t>(bytes->size() - count),
                                   Range::unused});
        }
        range.bytes = static_cast<std::uint32_t>(count);
        range.attribute = static_cast<std::uint32_t>(
            first_attributes_[number] + static_cast<std::size_t>(shown - attributes->begin()));
      }
    }
    part_.ranges_.push_back(range);
  }

  /// Returns false if a part of a header or group lies in another one. Then a value that differs
  /// could be another object's header.
  bool blocks_are_separate() {
    std::sort(blocks_.begin(), blocks_.end(),
              [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
    for (std::size_t i = 1; i < blocks_.size(); ++i) {
      if (blocks_[i - 1].offset + blocks_[i - 1].bytes > blocks_[i].offset) return false;
    }
    return true;
  }

  /// Returns false if ranges overlap, if a name is in raw data, or if the name of an object is not
  /// among those of its group.
  bool sort_ranges() {
    for (const Object& object : part_.objects_) {
      if (object.parent < has_names_.size() && has_names_[object.parent] && object.name == none)
        return false;
    }
    std::sort(part_.checked_.begin(), part_.checked_.end(),
              [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
    std::vector<std::uint32_t> order(part_.ranges_.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return part_.ranges_[a].offset < part_.ranges_[b].offset;
    });
    std::vector<std::uint32_t> place_of(order.size());
    std::vector<Range> sorted;
    for (const std::uint32_t number : order) {
      const Range& range = part_.ranges_[number];
      if (part_.metadata_.place_of(range.offset, range.bytes) == PartMetadata::nowhere)
        return false;
      if (!sorted.empty() && sorted.back().offset + sorted.back().bytes > range.offset)
        return false;
      place_of[number] = static_cast<std::uint32_t>(sorted.size());
      if (range.attribute < part_.attributes_.size())
        part_.attributes_[range.attribute].range = place_of[number];
      sorted.push_back(range);
    }
    part_.ranges_ = std::move(sorted);
    for (auto& group : groups_) {
      for (std::uint32_t& range : group) range = place_of[range];
    }
    part_.groups_ = std::move(groups_);
    for (Object& object : part_.objects_) {
      if (object.name != none) object.name = place_of[object.name];
    }
    return true;
  }

  /// Gives each attribute its form. Thousands of datasets mostly have few forms of attributes.
  void find_forms() {
    std::unordered_map<std::string, std::uint32_t> numbers;
    for (std::size_t i = 0; i < part_.attributes_.size(); ++i) {
      Attribute& attribute = part_.attributes_[i];
      AttributeValue form = (*attributes_of(
          part_.objects_[attribute.object]))[i - first_attributes_[attribute.object]];
      if (attribute.range != none) form.value.clear();
      std::string key = form.name + '\0' + std::to_string(form.type) + '\0' +
                        (attribute.range != none ? 'r' : 'v') +
                        std::to_string(form.dataspace.size()) + '\0';
      key += as_text(form.dataspace);
      key += as_text(form.value);
      for (const std::string& string : form.strings)
        key += std::to_string(string.size()) + '\0' + string;
      const auto [known, is_new] =
          numbers.try_emplace(std::move(key), static_cast<std::uint32_t>(part_.forms_.size()));
      if (is_new) part_.forms_.push_back(std::move(form));
      attribute.form = known->second;
    }
  }

  void take_bare_layout() {
    for (const DatasetInfo& dataset : walked_.layout->datasets)
      part_.bare_.datasets.push_back(
          {{}, dataset.type, dataset.form, dataset.shape, dataset.extents, {}});
    part_.bare_.groups.resize(walked_.layout->groups.size());
  }

  void count_memory() {
    part_.memory_bytes_ = part_.metadata_.memory_bytes() + memory_of(part_.bare_) +
                          memory_of(part_.forms_) + part_.ranges_.capacity() * sizeof(Range) +
                          part_.checked_.capacity() * sizeof(Extent) +
                          part_.attributes_.capacity() * sizeof(Attribute) +
                          part_.objects_.capacity() * sizeof(Object);
    for (const Object& object : part_.objects_) part_.memory_bytes_ += object.path.capacity();
    for (const auto& group : part_.groups_)
      part_.memory_bytes_ += group.capacity() * sizeof(std::uint32_t);
  }

  const restart::File& file_;
  const Datatypes& types_;
  const WalkedPart& walked_;
  ReferencePart part_;
  bool names_are_fixed_ = false;
  std::vector<std::size_t> first_attributes_;  // by object
  std::vector<Extent> blocks_;                 // of headers and groups
  std::vector<std::pair<std::uint32_t, HeaderValues::SymbolTable>> tables_;  // by object
  std::vector<bool> has_names_;  // by object: a group with ranges for its names
  std::unordered_map<std::uint64_t, std::uint32_t> by_address_;  // of objects
  std::vector<std::vector<std::uint32_t>> groups_;               // as ReferencePart::groups_
};

std::optional<ReferencePart> ReferencePart::make(const restart::File& file, std::uint64_t size,
                                                 const Datatypes& types, const WalkedPart& walked) {
  return Maker(file, size, types, walked).make();
}

ByteSpan ReferencePart::bytes_of(const Range& range) const {
  return metadata_.bytes().subspan(metadata_.place_of(range.offset, range.bytes), range.bytes);
}

std::string_view ReferencePart::text_of(const Range& range) const {
  return as_text(bytes_of(range));
}

/// The object must be in the layout.
std::vector<AttributeValue>& ReferencePart::attributes_of(const Object& object,
                                                          PartLayout& layout) {
  return object.dataset != ObjectHeader::none ? layout.datasets[object.dataset].attributes
                                              : layout.groups[object.group].attributes;
}

/// Returns the ranges in which the part differs; nothing if it differs elsewhere.
std::optional<ReferencePart::Changes> ReferencePart::compare(const restart::File& file,
                                                             std::uint64_t size) const {
  if (size != size_) return std::nullopt;
  Changes changes;
  Bytes other;
  WindowedFile windowed(file, comparison_window);
  std::size_t next = 0;  // the first range that ends behind the present place
  for (const PartMetadata::Gap& gap : metadata_.gaps()) {
    other.resize(gap.bytes);
    if (!windowed.read_at(gap.offset, other)) return std::nullopt;
    const std::byte* const known = metadata_.bytes().data() + gap.at;
    for (std::size_t i = 0; i < gap.bytes;) {
      const std::size_t end = std::min(i + comparison_step, gap.bytes);
      if (std::memcmp(other.data() + i, known + i, end - i) == 0) {
        i = end;
        continue;
      }
      while (other[i] == known[i]) ++i;
      const std::uint64_t place = gap.offset + i;
      while (next < ranges_.size() && ranges_[next].offset + ranges_[next].bytes <= place) ++next;
      if (next == ranges_.size() || place < ranges_[next].offset) return std::nullopt;
      const Range& range = ranges_[next];
      const auto begin = static_cast<std::size_t>(range.offset - gap.offset);
      changes.ranges.push_back({static_cast<std::uint32_t>(next), changes.bytes.size()});
      changes.bytes.insert(changes.bytes.end(), other.begin() + static_cast<std::ptrdiff_t>(begin),
                           other.begin() + static_cast<std::ptrdiff_t>(begin + range.bytes));
      changes.has_names = changes.has_names || range.attribute == Range::link_name;
      i = begin + range.bytes;
    }
  }
  return changes;
}

/// Exchanges the bytes of the changed ranges with those in `changes`.
void ReferencePart::exchange(Changes& changes) {
  for (const Change& change : changes.ranges) {
    const Range& range = ranges_[change.range];
    const MutableByteSpan own =
        metadata_.bytes().subspan(metadata_.place_of(range.offset, range.bytes), range.bytes);
    std::swap_ranges(own.begin(), own.end(),
                     changes.bytes.begin() + static_cast<std::ptrdiff_t>(change.at));
  }
}

/// `changes` were exchanged.
bool ReferencePart::checksums_are_right(const Changes& changes) const {
  auto next = checked_.begin();
  for (const Change& change : changes.ranges) {
    const std::uint64_t place = ranges_[change.range].offset;
    while (next != checked_.end() && next->offset + next->bytes <= place) ++next;
    if (next == checked_.end()) return true;
    if (place < next->offset) continue;
    if (!ends_with_checksum(
            metadata_.bytes().subspan(metadata_.place_of(next->offset, next->bytes), next->bytes)))
      return false;
    ++next;
  }
  return true;
}

bool ReferencePart::names_are_valid() const {
  return std::all_of(groups_.begin(), groups_.end(), [&](const auto& group) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      const std::string_view name = text_of(ranges_[group[i]]);
      if (!is_link_name(name) || (i > 0 && !(text_of(ranges_[group[i - 1]]) < name))) return false;
    }
    return true;
  });
}

void ReferencePart::rename_objects() {
  for (Object& object : objects_) {
    if (object.parent == none) continue;
    const std::string& above = objects_[object.parent].path;
    const std::size_t slash = object.path.rfind('/');
    const std::string last(
        object.name != none
            ? text_of(ranges_[object.name])
            : std::string_view(object.path).substr(slash == std::string::npos ? 0 : slash + 1));
    object.path = above.empty() ? last : above + '/' + last;
  }
}

bool ReferencePart::fits(const restart::File& file, std::uint64_t size) {
  std::optional<Changes> changes = compare(file, size);
  if (!changes) return false;
  exchange(*changes);
  if (!checksums_are_right(*changes) || (changes->has_names && !names_are_valid())) {
    exchange(*changes);
    return false;
  }
  if (layout_ != nullptr && !changes->has_names) {
    exchange(*changes);
    for (const Change& change : changes->ranges) drop_attribute(ranges_[change.range]);
    return true;
  }
  if (changes->has_names) rename_objects();
  layout_ = make_layout();
  return true;
}

std::shared_ptr<PartLayout> ReferencePart::make_layout() const {
  auto layout = std::make_shared<PartLayout>(bare_);
  for (const Object& object : objects_) {
    if (object.dataset != ObjectHeader::none) layout->datasets[object.dataset].path = object.path;
    if (object.group != ObjectHeader::none) layout->groups[object.group].path = object.path;
  }
  for (const Attribute& attribute : attributes_) {
    AttributeValue value = forms_[attribute.form];
    if (attribute.range != none) {
      const ByteSpan bytes = bytes_of(ranges_[attribute.range]);
      value.value.assign(bytes.begin(), bytes.end());
    }
    attributes_of(objects_[attribute.object], *layout).push_back(std::move(value));
  }
  return layout;
}

void ReferencePart::drop_attribute(const Range& range) {
  if (range.attribute >= attributes_.size()) return;
  const Attribute& attribute = attributes_[range.attribute];
  const std::string& name = forms_[attribute.form].name;
  std::erase_if(attributes_of(objects_[attribute.object], *layout_),
                [&](const AttributeValue& value) { return value.name == name; });
}

}  // namespace mcr::aggregation
