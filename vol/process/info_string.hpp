// SPDX-License-Identifier: BSD-3-Clause
// Connector info: the text after the connector's name, "under_vol=0;under_info={};key=value;…". HDF5
// passes it verbatim, with a leading blank, and null if there is none: info may be null everywhere.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "codecs/base/result.hpp"
#include "vol/binding/host_hdf5.hpp"
#include "vol/process/process.hpp"

namespace mcr::vol {

/// What HDF5 keeps for the connector in file access property lists.
struct ConnectorInfo {
  std::string settings;  ///< "key=value;…" as given, without under_vol and under_info
  std::string mistake;   ///< why the text cannot be used; its first use fails with this
};

/// True where HDF5_VOL_CONNECTOR names this connector.
bool is_named_by_environment();

/// Parses the connector's text. under_vol and under_info are checked, and left out of `settings`.
ConnectorInfo parse_info(std::string_view text);

/// Returns the info that was parsed last, in practice from HDF5_VOL_CONNECTOR. Used for files that are
/// opened without a property list at hand (external links), and where asking for the list would cost
/// time.
const ConnectorInfo& environment_info();

/// Returns the settings for the file at that path, if no property list is at hand. Cause::usage: an
/// unknown key or a bad value.
Result<Process::SettingsPointer> settings_at(const std::string& path);

/// Holds the info of a file access property list. HDF5 gives away a copy, and our copies are
/// references, because HDF5 frees a list twice if its info cannot be copied.
class HeldInfo {
 public:
  /// Returns an empty object if the list has no info. Cause::system if HDF5 cannot tell.
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
