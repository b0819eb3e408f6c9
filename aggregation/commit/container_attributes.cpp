// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/container_attributes.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string_view>

namespace mcr::aggregation {

namespace {

/// Returns the error number of the system call that failed. HDF5's driver states it in its message;
/// errno may be that of a later call, because HDF5 closes and removes things after a failure.
int failed_number(const std::string& reason) {
  constexpr std::string_view before = "errno = ";
  int number = errno;
  if (const std::size_t at = reason.find(before); at != std::string::npos)
    std::from_chars(reason.data() + at + before.size(), reason.data() + reason.size(), number);
  return number;
}

}  // namespace

Error hdf5_write_error(const std::string& what) {
  std::string reason;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_DOWNWARD,
      [](unsigned, const H5E_error2_t* entry, void* text) -> herr_t {
        if (entry->desc != nullptr) *static_cast<std::string*>(text) = entry->desc;
        return 0;
      },
      &reason);
  const int number = failed_number(reason);
  const Cause cause = number == ENOSPC || number == EDQUOT ? Cause::full : Cause::system;
  return {cause, "HDF5: " + what + (reason.empty() ? "" : ": " + reason), number};
}

namespace {

Result<void> write_attribute(hid_t object, const char* name, hid_t type, hid_t space,
                             const void* value) {
  const OwnedId attribute(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT));
  if (!attribute.is_valid() || H5Awrite(attribute.get(), type, value) < 0) {
    return hdf5_write_error(std::string("attribute ") + name + " cannot be written");
  }
  return {};
}

}  // namespace

OwnedId text_type(std::size_t bytes) {
  OwnedId type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.get(), std::max<std::size_t>(bytes, 1));
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
  return type;
}

Result<void> write_text(hid_t object, const char* name, const std::string& text) {
  const OwnedId space(H5Screate(H5S_SCALAR));
  return write_attribute(object, name, text_type(text.size()).get(), space.get(), text.c_str());
}

Result<void> write_number(hid_t object, const char* name, std::uint64_t number) {
  const OwnedId space(H5Screate(H5S_SCALAR));
  const bool small = number <= UINT32_MAX;
  const auto half = static_cast<std::uint32_t>(number);
  // The value in memory has the byte order of the machine; HDF5 converts.
  const OwnedId attribute(H5Acreate2(object, name, small ? H5T_STD_U32LE : H5T_STD_U64LE,
                                     space.get(), H5P_DEFAULT, H5P_DEFAULT));
  if (!attribute.is_valid() ||
      H5Awrite(attribute.get(), small ? H5T_NATIVE_UINT32 : H5T_NATIVE_UINT64,
               small ? static_cast<const void*>(&half) : &number) < 0) {
    return hdf5_write_error(std::string("attribute ") + name + " cannot be written");
  }
  return {};
}

Result<void> write_numbers(hid_t object, const char* name,
                           const std::vector<std::uint64_t>& numbers) {
  const std::uint64_t most =
      numbers.empty() ? 0 : *std::max_element(numbers.begin(), numbers.end());
  const hid_t type = most <= UINT8_MAX    ? H5T_STD_U8LE
                     : most <= UINT16_MAX ? H5T_STD_U16LE
                     : most <= UINT32_MAX ? H5T_STD_U32LE
                                          : H5T_STD_U64LE;
  const hsize_t count = numbers.size();
  const OwnedId space(H5Screate_simple(1, &count, nullptr));
  const OwnedId attribute(H5Acreate2(object, name, type, space.get(), H5P_DEFAULT, H5P_DEFAULT));
  if (!attribute.is_valid() || H5Awrite(attribute.get(), H5T_NATIVE_UINT64, numbers.data()) < 0) {
    return hdf5_write_error(std::string("attribute ") + name + " cannot be written");
  }
  return {};
}

Result<void> copy_attribute(hid_t object, const Datatypes& types, const AttributeValue& attribute) {
  if (H5Aexists(object, attribute.name.c_str()) != 0) return {};
  const OwnedId space(H5Sdecode(attribute.dataspace.data()));
  const hid_t type = types[attribute.type].id.get();
  const OwnedId created(
      H5Acreate2(object, attribute.name.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT));
  if (!created.is_valid())
    return hdf5_write_error("attribute " + attribute.name + " cannot be written");
  herr_t written = 0;
  if (!attribute.strings.empty()) {
    std::vector<const char*> strings;
    for (const std::string& string : attribute.strings) strings.push_back(string.c_str());
    written = H5Awrite(created.get(), type, strings.data());
  } else if (!attribute.value.empty()) {
    written = H5Awrite(created.get(), type, attribute.value.data());
  }
  if (written < 0) return hdf5_write_error("attribute " + attribute.name + " cannot be written");
  return {};
}

}  // namespace mcr::aggregation
