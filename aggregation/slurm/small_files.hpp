// SPDX-License-Identifier: BSD-3-Clause
// Files of the kernel and of /run. The plugin links nothing of the other rooms, because it runs in Slurm's
// own processes.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

namespace mcr::aggregation {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }

  void close() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }
  [[nodiscard]] int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

/// Returns the file's content, cut after `most` bytes; empty if the file cannot be read.
inline std::string read_text(int directory, const char* path, std::size_t most) {
  std::string text;
  const Descriptor file(::openat(directory, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  char buffer[4096];
  while (file && text.size() < most) {
    const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}
inline std::string read_text(const std::string& path, std::size_t most) {
  return read_text(AT_FDCWD, path.c_str(), most);
}

/// Writes the text by one system call, into a file that exists. False if the kernel refuses it.
inline bool write_text(const std::string& path, std::string_view text) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

}  // namespace mcr::aggregation
