// SPDX-License-Identifier: BSD-3-Clause
// libfpzip does not check its input: a stream that was made with intent writes where it likes.
// While a frame is decoded that may be a stranger's, its reader says so here, and is asked before
// any byte reaches the library.
#pragma once

#include "codecs/base/result.hpp"

namespace mcr::codecs {

/// Asked for leave to decode by a library that trusts its input.
class Judge {
 public:
  /// An error says whose data it is, and what to do.
  [[nodiscard]] virtual Result<void> may_decode_unchecked() const = 0;

 protected:
  ~Judge() = default;
};

/// While it lives, `judge` is asked on this thread. Where nobody is, the data is this process's own.
class JudgedBy {
 public:
  explicit JudgedBy(const Judge& judge);
  ~JudgedBy();
  JudgedBy(const JudgedBy&) = delete;
  JudgedBy& operator=(const JudgedBy&) = delete;

 private:
  const Judge* before_;
};

/// What the judge of this thread says.
Result<void> ask_judge();

}  // namespace mcr::codecs
