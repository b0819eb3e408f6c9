// SPDX-License-Identifier: BSD-3-Clause
// Output of subcommands: errors with their remedy, readable sizes, tables, a progress bar.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "aggregation/mcr/commands.hpp"
#include "codecs/base/result.hpp"
#include "restart/base/counted.hpp"
#include "restart/container/unpack.hpp"

namespace mcr::aggregation {

/// Prints "mcr COMMAND: message" to standard error and, with --json, {"error": …} to standard
/// output; returns the exit code of the error.
int print_error(const CommonOptions& options, std::string_view command, const Error& error);

/// Prints one line to `to`, in printf's format. Names may hold any byte: control characters, line
/// feeds included, are printed as escapes (restart/base/printable).
__attribute__((format(printf, 2, 3))) void print_line(std::FILE* to, const char* format, ...);

/// Prints a name alone on a line of standard output. As with `ls`, a name that goes to a pipe or a
/// file is not escaped, because another program reads it.
void print_name(const std::string& name);

/// Prints one JSON value to standard output. A byte that is not UTF-8 is printed as "\udc80" to
/// "\udcff", as in Python: os.fsencode restores the name.
void print_json(const nlohmann::json& value);

using restart::size_text;
std::string ratio_text(std::uint64_t raw_bytes, std::uint64_t stored_bytes);  ///< "6.93"

/// Rows whose columns are as wide as needed; the columns in `right` are right-aligned.
class Table {
 public:
  Table(std::vector<std::string> titles, std::vector<bool> right)
      : rows_{std::move(titles)}, right_(std::move(right)) {}
  void add(std::vector<std::string> row);
  void print() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<bool> right_;
};

/// A bar on standard error, if that is a terminal. It appears after one second and is erased at the
/// end.
class ProgressBar {
 public:
  explicit ProgressBar(std::string title);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(std::uint64_t done, std::uint64_t in_all);  ///< any thread
  /// The same for work whose end is not known: shows the text instead of a bar.
  void show(const std::string& text);
  void erase();  ///< before a line is printed; the bar is drawn again at the next show()
  [[nodiscard]] bool is_on_terminal() const { return terminal_; }
  restart::Progress function() {
    return [this](std::uint64_t done, std::uint64_t in_all) { show(done, in_all); };
  }

 private:
  /// True if it is time to draw; the caller holds the mutex.
  bool is_due();

  std::string title_;
  bool terminal_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_ = begin_;
  bool shown_ = false;
};

}  // namespace mcr::aggregation
