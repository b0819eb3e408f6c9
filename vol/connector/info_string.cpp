// SPDX-License-Identifier: BSD-3-Clause
#include "vol/connector/info_string.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "restart/base/settings.hpp"
#include "vol/connector/connector.hpp"
#include "vol/connector/guard.hpp"

namespace mcr::vol {

namespace {

constinit ConnectorInfo* last_parsed = nullptr;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// The first "key=value" of `text`, braces kept together, and what follows its semicolon.
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

// Captured bytes are those that the native connector hands to HDF5's driver layer, so nothing else
// can lie below.
std::string check_under(std::string_view value) {
  if (value == "0" || value == "native") return {};
  return "mcr: under_vol=" + std::string(value) +
         " cannot be used: mcr captures what HDF5's native connector hands to a file driver, so it "
         "runs on that one alone, under_vol=0; put the other connector above mcr, with under_vol=" +
         std::to_string(static_cast<int>(connector_value));
}

std::string check_info(std::string_view value) {
  if (value.size() >= 2 && value.front() == '{' && value.back() == '}')
    value = trimmed(value.substr(1, value.size() - 2));
  if (value.empty()) return {};
  return "mcr: under_info={" + std::string(value) +
         "} cannot be used: the native connector below takes none, under_info={}";
}

void* copy(const void* info) {
  return info == nullptr ? nullptr : new ConnectorInfo(*static_cast<const ConnectorInfo*>(info));
}

herr_t compare(int* result, const void* left, const void* right) {
  const auto* a = static_cast<const ConnectorInfo*>(left);
  const auto* b = static_cast<const ConnectorInfo*>(right);
  if (a == nullptr || b == nullptr) {
    *result = static_cast<int>(a != nullptr) - static_cast<int>(b != nullptr);
  } else {
    *result = a->settings.compare(b->settings);
  }
  return 0;
}

herr_t free_info(void* info) {
  delete static_cast<ConnectorInfo*>(info);
  return 0;
}

herr_t to_text(const void* info, char** text) {
  std::string out = "under_vol=0;under_info={}";
  if (info != nullptr) out += ";" + static_cast<const ConnectorInfo*>(info)->settings;
  *text = static_cast<char*>(hdf5.H5allocate_memory(out.size() + 1, false));
  if (*text == nullptr) return -1;
  std::memcpy(*text, out.c_str(), out.size() + 1);
  return 0;
}

herr_t from_text(const char* text, void** info) {
  auto parsed = std::make_unique<ConnectorInfo>(parse_info(text == nullptr ? "" : text));
  delete last_parsed;
  last_parsed = new ConnectorInfo(*parsed);
  *info = parsed.release();
  return 0;
}

}  // namespace

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
  static const ConnectorInfo& none = *new ConnectorInfo;
  return last_parsed != nullptr ? *last_parsed : none;
}

H5VL_info_class_t info_callbacks() {
  return {sizeof(ConnectorInfo), guarded<&copy>,    guarded<&compare>,
          guarded<&free_info>,   guarded<&to_text>, guarded<&from_text>};
}

}  // namespace mcr::vol
