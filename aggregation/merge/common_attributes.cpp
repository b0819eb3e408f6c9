// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/common_attributes.hpp"

#include <algorithm>
#include <unordered_map>

namespace mcr::aggregation {
namespace {

/// Removes from `common` the attributes that `others` lacks or has with another value.
void keep_equal(std::vector<AttributeValue>& common, const std::vector<AttributeValue>& others) {
  std::erase_if(common, [&](const AttributeValue& attribute) {
    return std::find(others.begin(), others.end(), attribute) == others.end();
  });
}

}  // namespace

std::vector<AttributeValue> common_attributes(const Variable& variable,
                                              const PartLayouts& layouts) {
  std::vector<AttributeValue> common;
  const PartLayout* last = nullptr;
  for (std::size_t i = 0; i < variable.fragments.size(); ++i) {
    const FragmentRef& fragment = variable.fragments[i];
    const PartLayout* layout = layouts[fragment.part].get();
    const std::vector<AttributeValue>& attributes = layout->datasets[fragment.dataset].attributes;
    if (i == 0) {
      common = attributes;
    } else if (layout != last || fragment.dataset != variable.fragments[i - 1].dataset) {
      keep_equal(common, attributes);
    }
    last = layout;
    if (common.empty()) break;
  }
  return common;
}

std::vector<GroupInfo> common_groups(const PartLayouts& layouts) {
  std::vector<GroupInfo> common;
  const PartLayout* first = nullptr;
  for (const auto& layout : layouts) {
    if (layout == nullptr || layout.get() == first) continue;
    if (first == nullptr) {
      first = layout.get();
      common = layout->groups;
      continue;
    }
    std::unordered_map<std::string_view, const GroupInfo*> groups;
    for (const GroupInfo& group : layout->groups) groups.emplace(group.path, &group);
    for (GroupInfo& group : common) {
      const auto found = groups.find(group.path);
      if (found == groups.end()) {
        group.attributes.clear();
      } else {
        keep_equal(group.attributes, found->second->attributes);
      }
    }
    std::erase_if(common, [](const GroupInfo& group) { return group.attributes.empty(); });
  }
  return common;
}

}  // namespace mcr::aggregation
