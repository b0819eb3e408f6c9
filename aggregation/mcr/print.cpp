// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/print.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>

#include "aggregation/mcr/exit_codes.hpp"
#include "restart/base/name_text.hpp"
#include "restart/base/printable.hpp"

namespace mcr::aggregation {
namespace {

std::string format(const char* pattern, double number) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), pattern, number);
  return text.data();
}

void write_json_text(std::string_view text, std::string& out) {
  const auto write_code = [&](char32_t code) {
    std::array<char, 8> escape{};
    std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(code));
    out += escape.data();
  };
  out += '"';
  while (!text.empty()) {
    const restart::Character character = restart::first_character(text);
    const std::string_view bytes = text.substr(0, character.bytes);
    text.remove_prefix(character.bytes);
    if (!character.is_utf8) {
      write_code(0xdc00U + static_cast<unsigned char>(bytes.front()));
    } else if (bytes == "\"" || bytes == "\\") {
      (out += '\\') += bytes;
    } else if (restart::printable(bytes) != bytes) {
      write_code(character.code);  // characters that printable() escapes are below U+10000
    } else {
      out += bytes;
    }
  }
  out += '"';
}

/// Appends the value in the layout of nlohmann's dump(2). Does not use dump(), which cannot print
/// text with arbitrary bytes.
void write_json(const nlohmann::json& value, std::size_t indent, std::string& out) {
  if (value.is_string()) return write_json_text(value.get_ref<const std::string&>(), out);
  if (!value.is_structured() || value.empty()) {
    out += value.dump();
    return;
  }
  out += value.is_object() ? '{' : '[';
  const char* separator = "\n";
  for (const auto& [key, item] : value.items()) {
    out += separator + std::string(indent + 2, ' ');
    separator = ",\n";
    if (value.is_object()) {
      write_json_text(key, out);
      out += ": ";
    }
    write_json(item, indent + 2, out);
  }
  out += '\n' + std::string(indent, ' ') + (value.is_object() ? '}' : ']');
}

/// Counts characters, not bytes: continuation bytes of UTF-8 do not count.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

/// Returns the width of the terminal; 80 if it is not known.
std::size_t columns_of(int terminal) {
  struct winsize size {};
  return ::ioctl(terminal, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

}  // namespace

int print_error(const CommonOptions& options, std::string_view command, const Error& error) {
  print_line(stderr, "mcr %.*s: %s", static_cast<int>(command.size()), command.data(),
             error.message.c_str());
  if (options.json) print_json({{"error", error.message}});
  return exit_code_of(error);
}

void print_line(std::FILE* to, const char* format, ...) {
  std::va_list values;
  va_start(values, format);
  std::va_list again;
  va_copy(again, values);
  const int length = std::vsnprintf(nullptr, 0, format, values);
  va_end(values);
  std::string text(static_cast<std::size_t>(std::max(length, 0)) + 1, '\0');
  std::vsnprintf(text.data(), text.size(), format, again);
  va_end(again);
  text.pop_back();
  std::fprintf(to, "%s\n", restart::printable(text).c_str());
}

void print_name(const std::string& name) {
  if (::isatty(STDOUT_FILENO) == 1) return print_line(stdout, "%s", name.c_str());
  std::printf("%s\n", name.c_str());
}

void print_json(const nlohmann::json& value) {
  std::string text;
  write_json(value, 0, text);
  std::printf("%s\n", text.c_str());
}

std::string ratio_text(std::uint64_t raw_bytes, std::uint64_t stored_bytes) {
  if (stored_bytes == 0) return "-";
  const double ratio = static_cast<double>(raw_bytes) / static_cast<double>(stored_bytes);
  return format(ratio >= 99.95 ? "%.0f" : ratio >= 9.995 ? "%.1f" : "%.3f", ratio);
}

void Table::print() const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - width_of(row[i]), ' ');
      if (i != 0) line += "  ";
      line += right_[i] ? pad + row[i] : row[i] + pad;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    print_line(stdout, "%s", line.c_str());
  }
}

void Table::add(std::vector<std::string> row) {
  for (std::string& cell : row) cell = restart::printable(cell);
  rows_.push_back(std::move(row));
}

ProgressBar::ProgressBar(std::string title)
    : title_(std::move(title)), terminal_(::isatty(2) == 1) {}

ProgressBar::~ProgressBar() { erase(); }

void ProgressBar::erase() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

bool ProgressBar::is_due() {
  const auto now = std::chrono::steady_clock::now();
  if (now - begin_ < std::chrono::seconds(1) || now - last_ < std::chrono::milliseconds(100))
    return false;
  last_ = now;
  shown_ = true;
  return true;
}

void ProgressBar::show(const std::string& text) {
  if (!terminal_) return;
  const std::lock_guard lock(mutex_);
  if (!is_due()) return;
  // A longer line would begin a second one, which the next text would not replace.
  const std::string line = restart::printable(title_ + ": " + text);
  std::fprintf(stderr, "\r\033[K%s",
               restart::cut_text(line, columns_of(STDERR_FILENO) - 1).c_str());
}

void ProgressBar::show(std::uint64_t done, std::uint64_t in_all) {
  if (!terminal_ || in_all == 0) return;
  const std::lock_guard lock(mutex_);
  if (!is_due()) return;
  constexpr std::size_t width = 30;
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(in_all));
  const auto full = static_cast<std::size_t>(share * width);
  const double seconds = std::chrono::duration<double>(last_ - begin_).count();
  const std::string bar = std::string(full, '#') + std::string(width - full, '.');
  std::fprintf(stderr, "\r\033[K%s [%s] %3.0f %%  %s of %s  %s/s", title_.c_str(), bar.c_str(),
               share * 100, size_text(done).c_str(), size_text(in_all).c_str(),
               size_text(static_cast<std::uint64_t>(static_cast<double>(done) / seconds)).c_str());
}

}  // namespace mcr::aggregation
