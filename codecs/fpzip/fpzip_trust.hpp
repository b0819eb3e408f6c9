// SPDX-License-Identifier: BSD-3-Clause
// libfpzip does not check its input, so a malicious stream can make it write to any address. While
// a reader decodes a frame that may be another user's, it sets a judge. The judge must agree before
// any byte is given to the library.
#pragma once

#include "codecs/base/result.hpp"

namespace mcr::codecs {

/// Decides whether a library that trusts its input may decode.
class Judge {
 public:
  /// The error names the owner of the data and the remedy.
  [[nodiscard]] virtual Result<void> may_decode_unchecked() const = 0;

 protected:
  ~Judge() = default;
};

/// While an object of this class lives, `judge` decides for this thread. Without a judge, the data
/// counts as this process's own.
class JudgedBy {
 public:
  explicit JudgedBy(const Judge& judge);
  ~JudgedBy();
  JudgedBy(const JudgedBy&) = delete;
  JudgedBy& operator=(const JudgedBy&) = delete;

 private:
  const Judge* before_;
};

/// Returns the decision of this thread's judge.
Result<void> ask_judge();

}  // namespace mcr::codecs
