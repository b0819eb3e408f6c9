// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/replaced_parts.hpp"

#include <fcntl.h>

#include <map>
#include <utility>

#include "aggregation/commit/index_place.hpp"
#include "aggregation/commit/set_files.hpp"
#include "restart/base/path_names.hpp"
#include "restart/container/late_copies.hpp"
#include "restart/format/masked_name.hpp"
#include "restart/stage/file_at.hpp"

namespace mcr::aggregation {
namespace {

/// True if the part's stub lies at the path at which it was written.
bool is_at_its_path(const Container& container, const restart::PartEntry& entry) {
  const std::string path = place_in_tree(*container.home, container.reader->set(), entry.path).text;
  return restart::file_at(AT_FDCWD, path, restart::Links::not_followed).is_stub_of(entry.part);
}

restart::FileOrigin origin_of(const Container& container) {
  const auto status = container.reader->status();
  if (!status) return container.reader->origin();
  return restart::origin_by(container.reader->origin(), *status,
                            container.home->beside().author(*status));
}

bool is_same_file(const Container& one, const Container& other) {
  const auto status = one.reader->status();
  const auto other_status = other.reader->status();
  return status && other_status &&
         restart::FileIdentity(*status) == restart::FileIdentity(*other_status);
}

using Order = std::pair<std::uint64_t, std::uint64_t>;

/// Orders the writings of a file. Late copies of containers come first, because another user may have made them; the later
/// writings count. But a part that the stub at its path names is no other user's choice.
class OrderOfParts {
 public:
  explicit OrderOfParts(const Containers& containers) {
    for (const Container& container : containers) late_of(container).add(origin_of(container), 0);
  }
  /// `entry`: null for a native member.
  Order operator()(const Container& container, const restart::PartEntry* entry) {
    const restart::SetIdentity& set = container.reader->set();
    const bool is_late = late_of(container).is_late(origin_of(container));
    if (is_late && (entry == nullptr || !is_at_its_path(container, *entry)))
      return {0, set.created_ns};
    // Each set of one file is a new writing of that file, and replaces the earlier writings.
    return {is_of_one_file(set) ? set.order() : 1, set.created_ns};
  }

 private:
  restart::LateCopies& late_of(const Container& container) {
    return late_[restart::parent_of(container.reader->name())];
  }
  std::map<std::string, restart::LateCopies> late_;  ///< by directory
};

/// Adds the parts of files that the program renamed and then wrote into: the later part has another name. But if the earlier name still
/// shows the earlier part, the program has copied the file.
Result<void> add_renamed(const Containers& containers, OrderOfParts& order_of,
                         std::set<restart::PartId>& replaced) {
  struct Newest {
    Order order;
    std::string path;
  };
  std::map<std::pair<SetKey, std::uint32_t>, Newest> newest;  // by rank
  const auto for_each = [&](const auto& use) -> Result<void> {
    for (const Container& container : containers) {
      const auto& records = *MCR_TRY(container.reader->parts());
      for (std::size_t i = 0; i < records.size(); ++i) {
        const SetKey key = key_of(*container.reader, i);
        const restart::PartEntry& entry = records[i].entry;
        if (restart::has_one_file_a_rank(std::get<0>(key)) && !replaced.contains(entry.part))
          use(container, entry, newest[{key, entry.rank}]);
      }
    }
    return {};
  };
  MCR_TRY(for_each([&](const Container& container, const auto& entry, Newest& known) {
    const Order order = order_of(container, &entry);
    if (order >= known.order) known = {order, entry.path};
  }));
  return for_each([&](const Container& container, const auto& entry, const Newest& known) {
    const bool is_earlier = order_of(container, &entry) < known.order;
    if (is_earlier && entry.path != known.path && !is_at_its_path(container, entry))
      replaced.insert(entry.part);
  });
}

}  // namespace

SetKey key_of(const restart::ContainerReader& container, std::size_t part) {
  const restart::SetIdentity set = restart::set_of_part(container.set(), part);
  return {set.masked_name, set.launch, set.sequence,
          set.launch == packed_launch ? container.name() : std::string()};
}

Result<void> leave_out_repeated_parts(Containers& containers) {
  std::map<restart::PartId, Container*> holders;
  for (Container& container : containers) {
    for (const restart::PartRecord& record : *MCR_TRY(container.reader->parts())) {
      const restart::PartEntry& entry = record.entry;
      if (container.without.contains(entry.part)) continue;
      const auto [holder, is_first] = holders.try_emplace(entry.part, &container);
      if (is_first || holder->second == &container) continue;
      if (is_same_file(container, *holder->second)) {
        container.without.insert(entry.part);
        continue;
      }
      const bool is_copy = origin_of(container).is_copy;
      const bool is_other_copy = origin_of(*holder->second).is_copy;
      if (is_copy && is_other_copy)
        return Error{Cause::usage,
                     container.reader->name() + " and " + holder->second->reader->name() +
                         " both have " + entry.path +
                         ", and neither is certainly an original, so nothing tells which of them "
                         "belongs to the set. Name the containers that do"};
      if (is_copy) {
        container.without.insert(entry.part);
      } else {
        holder->second->without.insert(entry.part);
        holder->second = &container;
      }
    }
  }
  return {};
}

Result<std::set<restart::PartId>> replaced_parts(const Containers& containers) {
  using Path = std::pair<SetKey, std::string>;
  struct Newest {
    Order order;
    restart::PartId part;
  };
  OrderOfParts order_of(containers);
  std::map<Path, Newest> newest;
  std::set<restart::PartId> replaced;
  for (const Container& container : containers) {
    const auto& records = *MCR_TRY(container.reader->parts());
    const bool is_alone = is_of_one_file(container.reader->set());
    for (std::size_t i = 0; i < records.size(); ++i) {
      const restart::PartEntry& entry = records[i].entry;
      const Newest here{order_of(container, &entry), entry.part};
      const SetKey key = is_alone ? SetKey{} : key_of(*container.reader, i);
      const auto [there, is_first] = newest.try_emplace(Path{key, entry.path}, here);
      if (is_first || there->second.part == here.part) continue;
      const bool is_newer = here.order >= there->second.order;
      replaced.insert(is_newer ? there->second.part : here.part);
      if (is_newer) there->second = here;
    }
  }
  for (const Container& container : containers) {
    const restart::SetIdentity& set = container.reader->set();
    const bool is_alone = is_of_one_file(set);
    const SetKey key = is_alone ? SetKey{} : key_of(*container.reader, 0);
    const Order order = order_of(container, nullptr);
    for (const restart::NativeMember& native : set.natives) {
      const auto there = newest.find(Path{key, native.path});
      if (there != newest.end() && order >= there->second.order)
        replaced.insert(there->second.part);
    }
  }
  MCR_TRY(add_renamed(containers, order_of, replaced));
  return replaced;
}

}  // namespace mcr::aggregation
