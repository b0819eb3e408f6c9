// SPDX-License-Identifier: BSD-3-Clause
// What subcommands print: errors with their remedy, sizes that people read, tables, a progress bar.
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

/// "mcr COMMAND: message" on standard error (with --json also {"error": …} on standard output);
/// answers the exit code that belongs to it.
int print_error(const CommonOptions& options, std::string_view command, const Error& error);

/// One line on `to`, in printf's format. Names may hold any byte: what a terminal would obey is
/// printed as an escape (restart/base/printable), a line feed too.
__attribute__((format(printf, 2, 3))) void print_line(std::FILE* to, const char* format, ...);

/// A line on standard output that is one name and nothing else. Into a pipe or a file it goes as it
/// is, because another program takes it from there, as with `ls`.
void print_name(const std::string& name);

/// One JSON value on standard output. A byte of a name that is no UTF-8 is printed as "\udc80" to
/// "\udcff", as Python's os.fsdecode gives it: os.fsencode makes the name of it again.
void print_json(const nlohmann::json& value);

using restart::size_text;
std::string ratio_text(std::uint64_t raw_bytes, std::uint64_t stored_bytes);  ///< "6.93"

/// Rows with columns as wide as they need to be; those named in `right` are set to the right.
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

/// A bar on standard error, from the first second on, if that is a terminal; gone when it ends.
class ProgressBar {
 public:
  explicit ProgressBar(std::string title);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(std::uint64_t done, std::uint64_t in_all);  ///< any thread
  restart::Progress function() {
    return [this](std::uint64_t done, std::uint64_t in_all) { show(done, in_all); };
  }

 private:
  std::string title_;
  bool terminal_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_ = begin_;
  bool shown_ = false;
};

}  // namespace mcr::aggregation
