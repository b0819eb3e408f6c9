// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/decision.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "codecs/base/checksum.hpp"
#include "restart/base/birth_time.hpp"
#include "restart/base/durable_replace.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/sets/own_containers.hpp"

namespace mcr::restart {
namespace {

constexpr std::string_view word = "decision";  // end of the file's name
constexpr std::string_view magic = "mcr-deci";
constexpr std::uint8_t decision_version = 1;
constexpr std::size_t max_launch_bytes = 512;
constexpr std::size_t max_name_bytes = 8192;
constexpr std::size_t max_bytes = 16'384;

Result<GenerationName> read_generation(Reader& in) {
  GenerationName name;
  name.launch = MCR_TRY(in.text(max_launch_bytes));
  name.sequence = MCR_TRY(in.varint());
  return name;
}

}  // namespace

bool gives(const Decision& decision, const GenerationName& name) {
  const GenerationName& given = decision.given;
  return !decision.as_it_is && given.launch == name.launch && given.sequence == name.sequence &&
         (given.masked_name.empty() || given.masked_name == name.masked_name);
}

Bytes write_decision(const Decision& decision) {
  Bytes file;
  Writer out(file);
  out.bytes(as_bytes(magic));
  out.u8(decision_version);
  out.u8(decision.as_it_is ? 0 : 1);
  for (const GenerationName& name : {decision.given, decision.newest}) {
    out.text(name.launch);
    out.varint(name.sequence);
  }
  out.u64(checksum(file));
  // Decisions of the first builds end here.
  out.text(decision.given.masked_name);
  out.u64(checksum(file));
  // Decisions without a place end here.
  out.text(decision.recorded_as);
  out.varint(decision.recorded_in);
  out.u64(checksum(file));
  // Decisions without the files end here.
  out.text(decision.files.container_dir);
  out.text(decision.files.name);
  out.u64(checksum(file));
  // Decisions without their own identity end here.
  out.u64(decision.own_inode);
  out.u64(decision.born_ns);
  out.u64(checksum(file));
  return file;
}

Result<Decision> read_decision(ByteSpan file) {
  Reader in(file);
  const auto begin = in.bytes(magic.size());
  if (!begin || as_text(*begin) != magic)
    return Error{Cause::damaged, "the file is not a decision"};
  if (MCR_TRY(in.u8()) != decision_version)
    return Error{Cause::unsupported, "a newer mcr wrote this decision"};
  const std::uint8_t kind = MCR_TRY(in.u8());
  Decision decision;
  decision.as_it_is = kind == 0;
  decision.given = MCR_TRY(read_generation(in));
  decision.newest = MCR_TRY(read_generation(in));
  const std::size_t summed = in.position();
  if (kind > 1 || MCR_TRY(in.u64()) != checksum(file.first(summed)))
    return Error{Cause::damaged, "the decision does not match its checksum"};
  if (in.position() == file.size()) return decision;  // one of the first builds wrote it
  decision.given.masked_name = MCR_TRY(in.text(max_name_bytes));
  const std::size_t name_summed = in.position();
  if (MCR_TRY(in.u64()) != checksum(file.first(name_summed)))
    return Error{Cause::damaged, "the decision's masked name does not match its checksum"};
  if (in.position() == file.size()) return decision;  // a later build wrote it
  decision.recorded_as = MCR_TRY(in.text(max_name_bytes));
  decision.recorded_in = MCR_TRY(in.varint());
  const std::size_t all_summed = in.position();
  if (MCR_TRY(in.u64()) != checksum(file.first(all_summed)))
    return Error{Cause::damaged, "the decision's place does not match its checksum"};
  if (in.position() == file.size()) return decision;  // a still later build wrote it
  decision.files.container_dir = MCR_TRY(in.text(max_name_bytes));
  decision.files.name = MCR_TRY(in.text(max_name_bytes));
  const std::size_t files_summed = in.position();
  if (MCR_TRY(in.u64()) != checksum(file.first(files_summed)))
    return Error{Cause::damaged, "the decision's files do not match their checksum"};
  if (in.position() == file.size()) return decision;  // an even later build wrote it
  decision.own_inode = MCR_TRY(in.u64());
  decision.born_ns = MCR_TRY(in.u64());
  const std::size_t identity_summed = in.position();
  if (MCR_TRY(in.u64()) != checksum(file.first(identity_summed)))
    return Error{Cause::damaged, "the decision's identity does not match its checksum"};
  return decision;
}

namespace {

/// False if another user may have moved the decision to this name in the directory `home`. Wherever others may
/// write to `home`, they can give a decision about an earlier launch the name of the next one.
bool lies_where_it_was_recorded(const Decision& decision, const std::string& name,
                                const struct stat& home) {
  if (!others_may_write(home)) return true;
  return decision.recorded_as == name &&
         (!others_may_only_add(home) || decision.recorded_in == home.st_ino);
}

/// True if the decision was written into this very file, soon after the file was made. A second copy over the first one keeps inode and birth
/// time, which its author may have looked up, but it comes later.
bool is_original(const Decision& decision, const File& file, const struct stat& status) {
  constexpr std::uint64_t longest_write_ns = 30'000'000'000;
  if (decision.own_inode != status.st_ino) return false;
  const std::uint64_t born_ns = birth_time_of(file);
  return born_ns == 0 ||
         (born_ns == decision.born_ns && changed_ns(status) <= born_ns + longest_write_ns);
}

/// Makes the decision's file; EEXIST: another one has the name.
Result<void> write(const File& home, const std::string& name, Decision decision) {
  auto pending = MCR_TRY(PendingFile::create(home.descriptor(), name, 0644));
  decision.own_inode = MCR_TRY(pending.file().status()).st_ino;
  decision.born_ns = birth_time_of(pending.file());
  MCR_TRY(pending.file().write_at(0, write_decision(decision)));
  return pending.finish(Durability::durable, Existing::kept);
}

/// Reads a decision of this user or root. No others count, because the launch is this user's.
std::optional<Decision> read_own(const std::string& directory, const std::string& name,
                                 const DecidedFiles* files) {
  const auto home = open_own_containers(directory);
  const auto file = home ? File::open(home->descriptor(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
                         : Result<File>(home.error());
  const auto status = file ? file->status() : Result<struct stat>(file.error());
  const auto above = home ? home->status() : Result<struct stat>(home.error());
  if (!status || !above || !S_ISREG(status->st_mode)) return std::nullopt;
  if (!is_believed(author_of(*status, *above), ::geteuid())) return std::nullopt;
  const auto content = file->read_all(max_bytes);
  if (!content) return std::nullopt;
  auto decision = read_decision(*content);
  if (!decision || !is_original(*decision, *file, *status) ||
      !lies_where_it_was_recorded(*decision, name, *above))
    return std::nullopt;
  if (files != nullptr && decision->files != *files) return std::nullopt;
  return std::move(*decision);
}

/// Returns the name that is used if another user's file, or a decision about other files, has the first name.
/// Any user who may write to the directory can create such a file.
std::string second_name(const std::string& name) {
  return name + "." + std::to_string(::geteuid());
}

}  // namespace

std::string decision_name(const std::string& prefix) { return prefix + std::string(word); }

std::optional<std::string> prefix_of_decision(std::string_view file_name) {
  const std::size_t user = file_name.find_last_not_of("0123456789");
  if (user != std::string_view::npos && user + 1 < file_name.size() && file_name[user] == '.')
    file_name = file_name.substr(0, user);
  if (!file_name.ends_with(word)) return std::nullopt;
  return std::string(file_name.substr(0, file_name.size() - word.size()));
}

std::optional<Decision> find_decision(const std::string& directory, const std::string& name,
                                      const DecidedFiles* files) {
  if (auto decision = read_own(directory, name, files)) return decision;
  return read_own(directory, second_name(name), files);
}

Result<Recorded> record_decision(const std::string& directory, const std::string& name,
                                 const Decision& decision) {
  const File home = MCR_TRY(open_own_containers_to_write(directory));
  Decision placed = decision;
  placed.recorded_in = MCR_TRY(home.status()).st_ino;
  for (const std::string& free : {name, second_name(name)}) {
    if (const auto there = find_decision(directory, name, &decision.files))
      return Recorded{*there, false};
    placed.recorded_as = free;
    const auto put = write(home, free, placed);
    if (put) return Recorded{decision, true};
    if (put.error().system_error != EEXIST) return put.error();
  }
  if (const auto there = find_decision(directory, name, &decision.files))
    return Recorded{*there, false};
  return Error{Cause::damaged, directory + "/" + name + " and " + directory + "/" +
                                   second_name(name) +
                                   " are damaged, belong to other users or are about other files, "
                                   "so the ranks cannot agree on a set; "
                                   "remove these files, or ask their owners to remove them"};
}

}  // namespace mcr::restart
