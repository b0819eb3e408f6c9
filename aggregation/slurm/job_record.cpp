// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/slurm/job_record.hpp"

#include <dirent.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <memory>

namespace mcr::aggregation {
namespace {

constexpr const char* all_records = "/run/mcr-slurm";
constexpr const char* groups_name = "groups";
constexpr std::size_t digits = 16;
constexpr std::size_t most_residents = 8;
constexpr std::size_t most_groups_bytes = 64 * 1024;
constexpr unsigned look_ms = 5;

/// Opens a directory that only root can use.
Descriptor open_directory(const char* path, bool make) {
  if (make) ::mkdir(path, 0700);
  Descriptor found(::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (found &&
      (::fstat(found.get(), &status) != 0 || status.st_uid != 0 || (status.st_mode & 077) != 0)) {
    found.close();
  }
  return found;
}

std::string path_of(const std::string& name) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return std::string(all_records) + "/" + host.data() + "." + name;
}

Descriptor open_mark(int flags) {
  return Descriptor(
      ::open(path_of("slurmd").c_str(), flags | O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0600));
}

/// FNV-1a, 64 bits. If two addresses have the same hash, their steps share one resident. Only the job's own
/// user can cause that.
std::string digits_of(const std::string& text) {
  std::uint64_t sum = 0xcbf29ce484222325;
  for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::array<char, digits + 1> name{};
  std::snprintf(name.data(), name.size(), "%016llx", static_cast<unsigned long long>(sum));
  return name.data();
}

}  // namespace

bool mark_slurmd() {
  if (!open_directory(all_records, true)) return false;
  // Never closed: slurmd keeps the lock over the fork by which it becomes a daemon.
  static const Descriptor& mark = *new Descriptor(open_mark(O_CREAT));
  return mark && ::flock(mark.get(), LOCK_SH) == 0;
}

bool does_slurmd_run_plugin() {
  const Descriptor mark = open_mark(0);
  return mark && ::flock(mark.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

std::optional<JobRecord> JobRecord::open(std::uint32_t job, bool make) {
  const Descriptor all = open_directory(all_records, make);
  if (!all) return std::nullopt;
  std::string path = path_of(std::to_string(job));
  Descriptor directory = open_directory(path.c_str(), make);
  if (!directory) return std::nullopt;
  return JobRecord(std::move(path), std::move(directory));
}

std::optional<JobRecord> JobRecord::make(std::uint32_t job) { return open(job, true); }
std::optional<JobRecord> JobRecord::find(std::uint32_t job) { return open(job, false); }

bool JobRecord::lock(unsigned limit_ms) const {
  for (unsigned waited_ms = 0; ::flock(directory_.get(), LOCK_EX | LOCK_NB) != 0;
       waited_ms += look_ms) {
    if (waited_ms >= limit_ms) return false;
    ::poll(nullptr, 0, look_ms);
  }
  return true;
}

void JobRecord::unlock() const { ::flock(directory_.get(), LOCK_UN); }

std::vector<std::string> JobRecord::names() const {
  std::vector<std::string> found;
  const int copy = ::openat(directory_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(copy), ::closedir);
  while (entries) {
    const dirent* const entry = ::readdir(entries.get());
    if (entry == nullptr) break;
    if (entry->d_name[0] != '.') found.emplace_back(entry->d_name);
  }
  return found;
}

std::optional<Descriptor> JobRecord::take_fifo(const std::string& address) const {
  const std::string name = digits_of(address);
  const std::vector<std::string> known = names();
  const bool is_known = std::find(known.begin(), known.end(), name) != known.end();
  if (!is_known && known.size() > most_residents) return std::nullopt;
  ::mkfifoat(directory_.get(), name.c_str(), 0600);
  Descriptor fifo(
      ::openat(directory_.get(), name.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  if (!fifo || ::flock(fifo.get(), LOCK_EX | LOCK_NB) != 0) return std::nullopt;
  return fifo;
}

bool JobRecord::write_groups(const JobGroups& groups) const {
  std::string text = std::string(groups.is_unified ? "2" : "1") + "\n" + groups.own + "\n";
  for (const std::string& group : groups.shared) text += group + "\n";
  const Descriptor file(::openat(directory_.get(), groups_name,
                                 O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

std::optional<JobGroups> JobRecord::groups() const {
  const std::string text = read_text(directory_.get(), groups_name, most_groups_bytes);
  std::vector<std::string> lines;
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    lines.push_back(text.substr(begin, end - begin));
  }
  if (lines.size() < 2) return std::nullopt;
  return JobGroups{lines[1], {lines.begin() + 2, lines.end()}, lines[0] == "2"};
}

void JobRecord::tell_to_end() const {
  for (const std::string& name : names()) {
    if (name == groups_name) continue;
    // Fails if no resident has the FIFO open.
    const Descriptor fifo(
        ::openat(directory_.get(), name.c_str(), O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  }
}

void JobRecord::remove() const {
  for (const std::string& name : names()) ::unlinkat(directory_.get(), name.c_str(), 0);
  ::rmdir(path_.c_str());
}

}  // namespace mcr::aggregation
