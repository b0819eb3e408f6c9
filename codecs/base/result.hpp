// SPDX-License-Identifier: BSD-3-Clause
// Result<T>: a value or an Error. Our code does not throw. gcc 12 has no std::expected in C++20;
// this class has the same member names, so that std::expected can replace it with C++23.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace mcr {

/// Why something failed. The causes differ in what the caller does about them.
enum class Cause : std::uint8_t {
  damaged,      ///< bytes do not match their checksum or format: report it, and go on with the rest
  unsupported,  ///< the data needs a newer format version, or a codec that this build lacks
  full,         ///< no space or quota left: spill
  system,       ///< the operating system refused; errno is in `system_error`
  usage,        ///< wrong settings or arguments; the message lists what is allowed
};

/// A cause and a message. The message names the object and, if there is one, the remedy.
struct Error {
  Cause cause = Cause::system;
  std::string message;
  int system_error = 0;  ///< errno; 0 if there is none
};

/// A value or an Error. value() of an error asserts, and so does error() of a value.
template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(*explicit*)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(*explicit*)

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & { return get(); }
  const T& value() const& { return const_cast<Result*>(this)->get(); }
  T&& value() && { return std::move(get()); }
  T& operator*() & { return get(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(get()); }
  T* operator->() { return &get(); }
  const T* operator->() const { return &value(); }
  T value_or(T other) && { return has_value() ? std::move(get()) : std::move(other); }

  Error& error() {
    assert(!has_value());
    return *std::get_if<1>(&state_);
  }
  const Error& error() const { return const_cast<Result*>(this)->error(); }

 private:
  T& get() {
    assert(has_value());
    return *std::get_if<0>(&state_);
  }

  std::variant<T, Error> state_;
};

/// Success, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(*explicit*)

  [[nodiscard]] bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  void value() const { assert(has_value()); }

  Error& error() {
    assert(!has_value());
    return *error_;
  }
  const Error& error() const {
    assert(!has_value());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

namespace detail {
template <typename T>
T take(Result<T>& result) {
  return std::move(*result);
}
inline void take(Result<void>&) {}
}  // namespace detail

}  // namespace mcr

/// `auto part = MCR_TRY(stage.open(id));` gives the value, or returns the error from the enclosing
/// function.
#define MCR_TRY(expression)                                                      \
  __extension__({                                                                \
    auto mcr_try_result = (expression);                                          \
    if (!mcr_try_result) return ::mcr::Error(std::move(mcr_try_result.error())); \
    ::mcr::detail::take(mcr_try_result);                                         \
  })
