// SPDX-License-Identifier: BSD-3-Clause
// The one template through which C calls our functions. It turns an exception into the callback's
// failure value. An exception that crossed HDF5's frames would leave HDF5's lock and API context
// taken.
#pragma once

#include <type_traits>

#include "vol/binding/host_hdf5.hpp"

namespace mcr::vol {

namespace detail {

template <typename R>
constexpr R failure() {
  if constexpr (std::is_same_v<R, void>) {
    return;
  } else if constexpr (std::is_pointer_v<R>) {
    return nullptr;
  } else if constexpr (std::is_signed_v<R>) {
    return static_cast<R>(-1);
  } else {
    return static_cast<R>(HADDR_UNDEF);
  }
}

template <auto function, typename F = decltype(function)>
struct Guard;

template <auto function, typename R, typename... Arguments>
struct Guard<function, R (*)(Arguments...)> {
  static R call(Arguments... arguments) noexcept {
    try {
      return function(arguments...);
    } catch (...) {
      return failure<R>();
    }
  }
};

}  // namespace detail

/// `function` as a pointer for a table of C callbacks.
template <auto function>
inline constexpr auto guarded = &detail::Guard<function>::call;

}  // namespace mcr::vol
