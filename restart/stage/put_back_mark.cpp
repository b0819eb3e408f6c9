// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stage/put_back_mark.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>
#include <vector>

#include "codecs/base/bytes.hpp"
#include "codecs/base/checksum.hpp"
#include "restart/base/durable_replace.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/stage/stub_file.hpp"

namespace mcr::restart {
namespace {

constexpr std::string_view put_back_word = "mcr-back";

struct timespec time_of(std::int64_t ns) {
  constexpr std::int64_t second_ns = 1'000'000'000;
  struct timespec time {};
  time.tv_sec = static_cast<time_t>(ns / second_ns);
  time.tv_nsec = static_cast<long>(ns % second_ns);
  return time;
}
bool is_before(const struct timespec& a, const struct timespec& b) {
  return std::pair(a.tv_sec, a.tv_nsec) < std::pair(b.tv_sec, b.tv_nsec);
}
void set_times(const File& file, struct timespec accessed, struct timespec modified) {
  const struct timespec times[2] = {accessed, modified};
  (void)::futimens(file.descriptor(), times);
}

}  // namespace

bool may_be_marked(const File& stub) {
  const auto status = stub.status();
  return status && is_ours_alone(*status);
}

Result<PutBackMark> mark_put_back(const File& stub, const PartId& part, FileIdentity native) {
  const auto there = read_stub_file(stub);
  const struct stat status = MCR_TRY(stub.status());
  if (!there || there->part != part) {
    errno = ESTALE;
    return system_error("cannot mark a file that is not the part's stub any more:", stub.name());
  }
  auto size = static_cast<std::uint64_t>(status.st_size);
  if (put_back_as(stub)) size -= put_back_mark_bytes;
  Bytes mark;
  Writer out(mark);
  out.bytes(as_bytes(put_back_word));
  out.u64(native.device);
  out.u64(native.inode);
  out.u64(checksum(mark));
  MCR_TRY(stub.write_at(size, mark));
  // A read changes the access time only if it is not after the modification time. The kernel stamps
  // reads by a coarse clock, so the modification time is set a little back.
  constexpr std::int64_t tick_ns = 20'000'000;
  constexpr std::int64_t second_ns = 1'000'000'000;
  struct timespec now {};
  (void)system_calls().clock_gettime(CLOCK_REALTIME, &now);
  const std::int64_t now_ns = now.tv_sec * second_ns + now.tv_nsec;
  set_times(stub, time_of(now_ns - second_ns), time_of(now_ns - tick_ns));
  return PutBackMark{size + put_back_mark_bytes, status.st_atim, status.st_mtim};
}

Result<void> unmark_put_back(const File& stub, const PutBackMark& mark) {
  const struct stat status = MCR_TRY(stub.status());
  if (static_cast<std::uint64_t>(status.st_size) != mark.stub_bytes || !put_back_as(stub))
    return {};
  const bool was_read = !is_before(status.st_atim, status.st_mtim);
  MCR_TRY(stub.truncate(mark.stub_bytes - put_back_mark_bytes));
  set_times(stub, was_read ? status.st_atim : mark.accessed, mark.modified);
  return {};
}

std::optional<FileIdentity> put_back_as(const File& stub) {
  const auto size = may_be_marked(stub) ? stub.size() : Result<std::uint64_t>(Error{});
  if (!size || *size < put_back_mark_bytes || *size > Stub::max_bytes + put_back_mark_bytes)
    return std::nullopt;
  Bytes mark(put_back_mark_bytes);
  if (!stub.read_at(*size - put_back_mark_bytes, mark)) return std::nullopt;
  Reader in(mark);
  const auto word = in.bytes(put_back_word.size());
  const auto device = in.u64();
  const auto inode = in.u64();
  const auto sum = in.u64();
  const bool is_mark = word && as_text(*word) == put_back_word && sum &&
                       *sum == checksum(ByteSpan(mark).first(put_back_mark_bytes - sizeof *sum));
  return is_mark ? std::optional(FileIdentity{*device, *inode}) : std::nullopt;
}

std::optional<File> find_put_back(const File& stub) {
  const auto native = put_back_as(stub);
  // The leader exchanges the names of stub and plain file. Then the stub has the leader's temporary
  // name, until the leader removes that name.
  const std::string last = without_deleted_mark(present_path(stub));
  if (!native || !name_of(last).starts_with(temporary_prefix)) return std::nullopt;
  const auto home = File::open(AT_FDCWD, parent_of(last), O_PATH | O_DIRECTORY);
  const auto names = home ? list_directory(home->descriptor(), ".")
                          : Result<std::vector<std::string>>(home.error());
  if (!names) return std::nullopt;
  for (const std::string& name : *names) {
    if (!leads_to(home->descriptor(), name, *native)) continue;
    auto file = File::open(home->descriptor(), name, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
    const auto status = file ? file->status() : Result<struct stat>(file.error());
    if (status && FileIdentity(*status) == *native && S_ISREG(status->st_mode) &&
        status->st_uid == ::geteuid())
      return *std::move(file);
  }
  return std::nullopt;
}

}  // namespace mcr::restart
