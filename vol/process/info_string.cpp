// SPDX-License-Identifier: BSD-3-Clause
#include "vol/process/info_string.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "restart/base/path_names.hpp"
#include "restart/settings/settings.hpp"
#include "vol/binding/guard.hpp"
#include "vol/binding/native_class.hpp"

namespace mcr::vol {

namespace {

// The object that HDF5 keeps; immutable once it is made.
struct SharedInfo {
  explicit SharedInfo(ConnectorInfo parsed) : info(std::move(parsed)) {}
  const ConnectorInfo info;
  std::atomic<unsigned> references{1};
};

constinit SharedInfo* last_parsed = nullptr;

SharedInfo& shared(const void* info) { return *static_cast<SharedInfo*>(const_cast<void*>(info)); }
const ConnectorInfo& info_in(const void* info) { return shared(info).info; }

void release(SharedInfo* info) {
  if (info != nullptr && info->references.fetch_sub(1) == 1) delete info;
}

const ConnectorInfo& no_info() {
  static const ConnectorInfo& none = *new ConnectorInfo;
  return none;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// Removes the first "key=value" and its semicolon from `text`, and returns it. A semicolon within
// braces does not end the value.
std::string_view take_item(std::string_view& text) {
  std::size_t depth = 0;
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    if (text[end] == '{') ++depth;
    if (text[end] == '}' && depth > 0) --depth;
    if (text[end] == ';' && depth == 0) break;
  }
  const std::string_view item = text.substr(0, end);
  text.remove_prefix(std::min(text.size(), end + 1));
  return trimmed(item);
}

// Refuses another connector below ours, because we capture the bytes that the native connector
// hands to HDF5's driver layer.
std::string check_under(std::string_view value) {
  if (value == "0" || value == "native") return {};
  return "mcr: under_vol=" + std::string(value) +
         " cannot be used: mcr works only directly above HDF5's native connector (under_vol=0); "
         "put the other connector above mcr, with under_vol=" +
         std::to_string(static_cast<int>(connector_value));
}

std::string check_info(std::string_view value) {
  if (value.size() >= 2 && value.front() == '{' && value.back() == '}')
    value = trimmed(value.substr(1, value.size() - 2));
  if (value.empty()) return {};
  return "mcr: under_info={" + std::string(value) +
         "} cannot be used: the native connector takes no parameters; write under_info={}";
}

// Must not fail, and so must not allocate: after a failure HDF5 (1.14.5, H5P_copy_plist) frees the
// original together with the copy.
void* copy(const void* info) {
  if (info == nullptr) return nullptr;
  shared(info).references.fetch_add(1);
  return &shared(info);
}

herr_t compare(int* result, const void* left, const void* right) {
  if (left == nullptr || right == nullptr) {
    *result = static_cast<int>(left != nullptr) - static_cast<int>(right != nullptr);
  } else {
    *result = info_in(left).settings.compare(info_in(right).settings);
  }
  return 0;
}

herr_t free_info(void* info) {
  release(static_cast<SharedInfo*>(info));
  return 0;
}

herr_t to_text(const void* info, char** text) {
  std::string out = "under_vol=0;under_info={}";
  if (info != nullptr) out += ";" + info_in(info).settings;
  *text = static_cast<char*>(hdf5.H5allocate_memory(out.size() + 1, false));
  if (*text == nullptr) return -1;
  std::memcpy(*text, out.c_str(), out.size() + 1);
  return 0;
}

herr_t from_text(const char* text, void** info) {
  auto* const parsed = new SharedInfo(parse_info(text == nullptr ? "" : text));
  release(std::exchange(last_parsed, &shared(copy(parsed))));
  *info = parsed;
  return 0;
}

}  // namespace

bool is_named_by_environment() {
  const char* variable = std::getenv("HDF5_VOL_CONNECTOR");
  if (variable == nullptr) return false;
  const std::string_view text = trimmed(variable);
  return text.substr(0, text.find_first_of(" \t\r\n")) == connector_name;
}

Result<Process::SettingsPointer> settings_at(const std::string& path) {
  return Process::get().settings(environment_info().settings, restart::parent_of(path));
}

ConnectorInfo parse_info(std::string_view text) {
  ConnectorInfo info;
  text = trimmed(text);
  while (!text.empty()) {
    const std::string_view item = take_item(text);
    const auto equals = item.find('=');
    const std::string_view key = trimmed(item.substr(0, equals));
    if (key == "under_vol" || key == "under_info") {
      const std::string_view value =
          equals == std::string_view::npos ? "" : trimmed(item.substr(equals + 1));
      if (info.mistake.empty())
        info.mistake = key == "under_vol" ? check_under(value) : check_info(value);
      continue;
    }
    if (item.empty()) continue;
    if (!info.settings.empty()) info.settings += ';';
    info.settings += item;
  }
  restart::Settings settings;
  if (const auto taken = settings.set_all(info.settings, "HDF5_VOL_CONNECTOR");
      !taken && info.mistake.empty()) {
    info.mistake = taken.error().message;
  }
  return info;
}

const ConnectorInfo& environment_info() {
  return last_parsed != nullptr ? last_parsed->info : no_info();
}

Result<HeldInfo> HeldInfo::of(hid_t access_list) {
  void* held = nullptr;
  if (hdf5.H5Pget_vol_info(access_list, &held) < 0) {
    return Error{Cause::system,
                 "H5Pget_vol_info failed, so the connector's settings in the file access property "
                 "list cannot be read",
                 ENOMEM};
  }
  return HeldInfo(held);
}

HeldInfo::~HeldInfo() { release(static_cast<SharedInfo*>(held_)); }

const std::string& HeldInfo::settings() const {
  return held_ == nullptr ? no_info().settings : info_in(held_).settings;
}
const std::string& HeldInfo::mistake() const {
  return held_ == nullptr ? no_info().mistake : info_in(held_).mistake;
}

H5VL_info_class_t info_callbacks() {
  return {sizeof(SharedInfo),  guarded<&copy>,    guarded<&compare>,
          guarded<&free_info>, guarded<&to_text>, guarded<&from_text>};
}

}  // namespace mcr::vol
