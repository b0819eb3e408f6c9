// SPDX-License-Identifier: BSD-3-Clause
// OwnedId: an HDF5 identifier that is closed when it ends, whatever its kind.
#pragma once

#include <hdf5.h>

#include <utility>

namespace mcr::aggregation {

class OwnedId {
 public:
  OwnedId() = default;
  /// Takes over what an HDF5 call returned, an error value included.
  explicit OwnedId(hid_t id) : id_(id) {}
  OwnedId(OwnedId&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  OwnedId& operator=(OwnedId&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~OwnedId() {
    if (id_ > 0) H5Idec_ref(id_);
  }

  [[nodiscard]] bool is_valid() const { return id_ > 0; }
  [[nodiscard]] hid_t get() const { return id_; }
  /// Closes it now; false where HDF5 reports a failure (a file whose last bytes could not be
  /// written).
  [[nodiscard]] bool close() {
    return id_ <= 0 || H5Idec_ref(std::exchange(id_, H5I_INVALID_HID)) >= 0;
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
};

}  // namespace mcr::aggregation
