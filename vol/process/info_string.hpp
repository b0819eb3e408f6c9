// SPDX-License-Identifier: BSD-3-Clause
// The text after the connector's name, "under_vol=0;under_info={};key=value;…", as connector info.
// HDF5 hands it over verbatim, leading blank included, and not at all where there is none: info may
// be null everywhere.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "codecs/base/result.hpp"
#include "vol/binding/host_hdf5.hpp"
#include "vol/process/process.hpp"

namespace mcr::vol {

/// What HDF5 keeps for us in file access property lists.
struct ConnectorInfo {
  std::string settings;  ///< "key=value;…" as given, without under_vol and under_info
  std::string mistake;   ///< why the text cannot be used; the first call that would use it says so
};

/// True where HDF5_VOL_CONNECTOR names this connector.
bool is_named_by_environment();

/// Takes under_vol and under_info out of the text.
ConnectorInfo parse_info(std::string_view text);

/// What was read last from such a text: in practice that of HDF5_VOL_CONNECTOR. For files that are
/// opened where no property list is at hand (external links), and where asking for it would cost
/// time.
const ConnectorInfo& environment_info();

/// What applies to the file at that path, where no property list is at hand. Cause::usage: an unknown key
/// or a bad value.
Result<Process::SettingsPointer> settings_at(const std::string& path);

/// The info in a file access property list, held: HDF5 gives a copy away, and copies of ours are
/// references, because a list whose info cannot be copied is freed twice by HDF5.
class HeldInfo {
 public:
  /// Empty where the list has none. Cause::system where HDF5 cannot say.
  static Result<HeldInfo> of(hid_t access_list);
  HeldInfo() = default;
  HeldInfo(HeldInfo&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  HeldInfo& operator=(HeldInfo&&) = delete;
  ~HeldInfo();

  [[nodiscard]] bool is_there() const { return held_ != nullptr; }
  [[nodiscard]] const std::string& settings() const;
  [[nodiscard]] const std::string& mistake() const;

 private:
  explicit HeldInfo(void* held) : held_(held) {}
  void* held_ = nullptr;
};

/// The callbacks copy, cmp, free, to_str, from_str.
H5VL_info_class_t info_callbacks();

}  // namespace mcr::vol
