// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/amendments.hpp"

#include <algorithm>

#include "restart/base/path_names.hpp"
#include "restart/format/masked_name.hpp"

namespace mcr::aggregation {

Amendments::File Amendments::file_of(const std::string& masked_name, std::uint32_t rank,
                                     const std::string& path) {
  if (restart::has_one_file_a_rank(masked_name)) return {rank, {}};
  const auto components = static_cast<std::size_t>(std::count(path.begin(), path.end(), '/')) + 1;
  const auto number =
      restart::is_numbered_by_part(masked_name)
          ? restart::masked_number(path, restart::path_tail(masked_name, components))
          : std::nullopt;
  return number ? File{*number, {}} : File{0, path};
}

void Amendments::add(const std::string& masked_name, std::uint32_t rank, const std::string& path,
                     const std::string& amended_by) {
  is_by_rank_ = restart::has_one_file_a_rank(masked_name);
  const File file = file_of(masked_name, rank, path);
  all_.insert(file);
  (amended_by.empty() ? own_ : by_launch_[amended_by]).insert(file);
}

void Amendments::add(const Amendments& more) {
  is_by_rank_ |= more.is_by_rank_;
  all_.insert(more.all_.begin(), more.all_.end());
  own_.insert(more.own_.begin(), more.own_.end());
  for (const auto& [launch, files] : more.by_launch_)
    by_launch_[launch].insert(files.begin(), files.end());
}

/// Files without the rank in their names may have been renamed since, so only their number is compared.
bool Amendments::is_partial(const Files& written) const {
  if (is_by_rank_ || own_.empty()) return written.size() != all_.size();
  return written.size() != own_.size();
}

bool Amendments::are_partial() const {
  return std::any_of(by_launch_.begin(), by_launch_.end(),
                     [&](const auto& launch) { return is_partial(launch.second); });
}

bool Amendments::have_left_out(const std::string& masked_name, std::uint32_t rank,
                               const std::string& path) const {
  const File file = file_of(masked_name, rank, path);
  return std::any_of(by_launch_.begin(), by_launch_.end(), [&](const auto& launch) {
    return is_partial(launch.second) && !launch.second.contains(file);
  });
}

}  // namespace mcr::aggregation
