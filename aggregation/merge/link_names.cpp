// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/link_names.hpp"

#include <algorithm>
#include <unordered_set>

#include "codecs/base/integers.hpp"

namespace mcr::aggregation {
namespace {

constexpr std::size_t max_nodes = 1U << 20;
constexpr unsigned max_level = 32;
constexpr std::size_t node_head_bytes = 24;
constexpr std::size_t leaf_head_bytes = 8;
constexpr std::size_t leaf_entry_bytes = 40;

Error not_understood() { return {Cause::unsupported, "a group has an unknown form"}; }

class GroupReader {
 public:
  GroupReader(const PartMetadata& part, std::uint64_t base) : part_(part), base_(base) {}

  Result<LinkNames> read(const HeaderValues::SymbolTable& table) {
    MCR_TRY(read_heap(table.heap));
    MCR_TRY(read_node(table.tree, max_level));
    std::unordered_set<std::uint64_t> known{0};
    for (std::size_t i = 0; i < names_.size(); ++i) {
      known.insert(names_[i].offset - heap_offset_);
      if (i > 0 && !(text_of(names_[i - 1]) < text_of(names_[i]))) return not_understood();
    }
    // The first key is the empty text at the heap's begin.
    const auto is_known = [&](std::uint64_t key) { return known.contains(key); };
    if (!std::all_of(keys_.begin(), keys_.end(), is_known) || heap_.empty() ||
        heap_[0] != std::byte{0}) {
      return not_understood();
    }
    return LinkNames{std::move(names_), std::move(blocks_)};
  }

 private:
  Result<void> read_heap(std::uint64_t address) {
    const ByteSpan head = MCR_TRY(part_.at(address, 32));
    Reader in(head);
    if (as_text(MCR_TRY(in.bytes(4))) != "HEAP" || MCR_TRY(in.u8()) != 0) return not_understood();
    MCR_TRY(in.bytes(3));
    const std::uint64_t bytes = MCR_TRY(in.u64());
    MCR_TRY(in.u64());  // the list of free blocks
    heap_offset_ = MCR_TRY(checked_add(MCR_TRY(in.u64()), base_));
    heap_ = MCR_TRY(part_.at(heap_offset_, bytes));
    blocks_.push_back({address, 32});
    blocks_.push_back({heap_offset_, bytes});
    return {};
  }

  /// Reads a node of the B-tree whose level is below `above`, and all that is below the node.
  Result<void> read_node(std::uint64_t address, unsigned above) {
    if (++nodes_ > max_nodes) return not_understood();
    const ByteSpan head = MCR_TRY(part_.at(address, node_head_bytes));
    Reader in(head);
    if (as_text(MCR_TRY(in.bytes(4))) != "TREE" || MCR_TRY(in.u8()) != 0) return not_understood();
    const unsigned level = MCR_TRY(in.u8());
    if (level >= above || (above != max_level && level + 1 != above)) return not_understood();
    const std::uint64_t count = MCR_TRY(in.u16());
    const ByteSpan body = MCR_TRY(part_.at(address + node_head_bytes, 16 * count + 8));
    blocks_.push_back({address, node_head_bytes + body.size()});
    Reader entries(body);
    for (std::uint64_t i = 0; i < count; ++i) {
      keys_.push_back(MCR_TRY(entries.u64()));
      const std::uint64_t child = MCR_TRY(checked_add(MCR_TRY(entries.u64()), base_));
      if (level == 0) {
        MCR_TRY(read_leaf(child));
      } else {
        MCR_TRY(read_node(child, level));
      }
    }
    if (count != 0) keys_.push_back(MCR_TRY(entries.u64()));
    return {};
  }

  Result<void> read_leaf(std::uint64_t address) {
    if (++nodes_ > max_nodes) return not_understood();
    const ByteSpan head = MCR_TRY(part_.at(address, leaf_head_bytes));
    Reader in(head);
    if (as_text(MCR_TRY(in.bytes(4))) != "SNOD" || MCR_TRY(in.u8()) != 1) return not_understood();
    MCR_TRY(in.u8());
    const std::uint64_t count = MCR_TRY(in.u16());
    const ByteSpan body = MCR_TRY(part_.at(address + leaf_head_bytes, leaf_entry_bytes * count));
    blocks_.push_back({address, leaf_head_bytes + body.size()});
    Reader entries(body);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t place = MCR_TRY(entries.u64());
      const std::uint64_t object = MCR_TRY(entries.u64());
      MCR_TRY(entries.bytes(leaf_entry_bytes - 16));
      if (place >= heap_.size()) return not_understood();
      const auto begin = heap_.begin() + static_cast<std::ptrdiff_t>(place);
      const auto end = std::find(begin, heap_.end(), std::byte{0});
      LinkName name{heap_offset_ + place, static_cast<std::uint64_t>(end - begin), object + base_};
      if (end == heap_.end() || !is_link_name(text_of(name))) return not_understood();
      names_.push_back(name);
    }
    return {};
  }

  [[nodiscard]] std::string_view text_of(const LinkName& name) const {
    return as_text(heap_.subspan(static_cast<std::size_t>(name.offset - heap_offset_),
                                 static_cast<std::size_t>(name.bytes)));
  }

  const PartMetadata& part_;
  std::uint64_t base_;
  std::uint64_t heap_offset_ = 0;  // in the file
  ByteSpan heap_;
  std::vector<LinkName> names_;
  std::vector<Extent> blocks_;
  std::vector<std::uint64_t> keys_;
  std::size_t nodes_ = 0;
};

}  // namespace

Result<LinkNames> read_link_names(const PartMetadata& part, std::uint64_t base,
                                  const HeaderValues::SymbolTable& table) {
  return GroupReader(part, base).read(table);
}

bool is_link_name(std::string_view text) {
  return !text.empty() && text != "." && text.find('/') == std::string_view::npos &&
         text.find('\0') == std::string_view::npos;
}

}  // namespace mcr::aggregation
