// SPDX-License-Identifier: BSD-3-Clause
// Id: an owned hid_t. An Id lives within a callback, never in a static, because ids are invalid
// after H5_term_library.
#pragma once

#include <utility>

#include "vol/binding/host_hdf5.hpp"

namespace mcr::vol {

class Id {
 public:
  Id() = default;
  explicit Id(hid_t id) : id_(id) {}
  Id(Id&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Id& operator=(Id&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Id() {
    if (id_ >= 0) hdf5.H5Idec_ref(id_);
  }

  explicit operator bool() const { return id_ >= 0; }
  [[nodiscard]] hid_t get() const { return id_; }
  [[nodiscard]] hid_t release() { return std::exchange(id_, H5I_INVALID_HID); }

 private:
  hid_t id_ = H5I_INVALID_HID;
};

}  // namespace mcr::vol
