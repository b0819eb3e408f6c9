// SPDX-License-Identifier: BSD-3-Clause
// Connector info: the text after the connector's name, "under_vol=0;under_info={};key=value;…".
// HDF5 passes the text unchanged, with a leading blank, and null if there is no text. So every
// function must accept null.
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
  std::string mistake;  ///< why the text cannot be used: the message of the first call that uses it
};

/// True if HDF5_VOL_CONNECTOR names this connector.
bool is_named_by_environment();

/// Parses the connector's text. under_vol and under_info are checked, and left out of `settings`.
ConnectorInfo parse_info(std::string_view text);

/// Returns the info that was parsed last, in practice from HDF5_VOL_CONNECTOR. Used if no property
/// list is at hand (external links), or if reading the list would cost too much time.
const ConnectorInfo& environment_info();

/// Returns the settings for the file at that path, if no property list is at hand. Cause::usage: an
/// unknown key or a bad value.
Result<Process::SettingsPointer> settings_at(const std::string& path);

/// Holds the info of a file access property list. HDF5 hands out a copy of the info. Our copies are
/// references, so that a copy cannot fail: after a failed copy HDF5 would free the list twice.
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
