// SPDX-License-Identifier: BSD-3-Clause
// OwnedId: an HDF5 identifier of any kind that is closed when the object ends.
#pragma once

#include <hdf5.h>

#include <utility>

namespace mcr::aggregation {

class OwnedId {
 public:
  OwnedId() = default;
  /// Takes over the result of an HDF5 call, which may be an error value.
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
  /// Closes the identifier now. Returns false if HDF5 reports a failure (the last bytes of a file
  /// could not be written).
  [[nodiscard]] bool close() {
    return id_ <= 0 || H5Idec_ref(std::exchange(id_, H5I_INVALID_HID)) >= 0;
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
};

}  // namespace mcr::aggregation
