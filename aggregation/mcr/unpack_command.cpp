// SPDX-License-Identifier: BSD-3-Clause
// mcr unpack CONTAINER|STUB|SET -d DIR: restores the rank files, byte for byte.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "aggregation/commit/amendments.hpp"
#include "aggregation/commit/held_containers.hpp"
#include "aggregation/commit/index_place.hpp"
#include "aggregation/commit/set_files.hpp"
#include "aggregation/leader/lifetime.hpp"
#include "aggregation/mcr/commands.hpp"
#include "aggregation/mcr/exit_codes.hpp"
#include "aggregation/mcr/made_directory.hpp"
#include "aggregation/mcr/named_containers.hpp"
#include "aggregation/mcr/named_stub.hpp"
#include "aggregation/mcr/open_container.hpp"
#include "aggregation/mcr/parallel.hpp"
#include "aggregation/mcr/print.hpp"
#include "aggregation/mcr/replaced_parts.hpp"
#include "aggregation/mcr/surroundings.hpp"
#include "codecs/gpu/lanes/card_decode.hpp"
#include "restart/base/attributes.hpp"
#include "restart/base/closed_directories.hpp"
#include "restart/base/copy_data.hpp"
#include "restart/base/counted.hpp"
#include "restart/base/directories_below.hpp"
#include "restart/base/durable_replace.hpp"
#include "restart/base/limits.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/container/frame_decoding.hpp"
#include "restart/container/unpack.hpp"
#include "restart/format/container_name.hpp"
#include "restart/sets/generations.hpp"
#include "restart/sets/native_members.hpp"
#include "restart/sets/stored_sets.hpp"
#include "restart/stage/file_at.hpp"

namespace mcr::aggregation {
namespace {

struct UnpackCommand {
  std::vector<std::string> arguments;
  std::string directory;
  std::vector<std::uint32_t> ranks;
  unsigned threads = 0;
  bool force = false;
};

bool is_wanted(const UnpackCommand& command, std::uint32_t rank) {
  return command.ranks.empty() ||
         std::find(command.ranks.begin(), command.ranks.end(), rank) != command.ranks.end();
}

/// Returns the last component of the setting container_dir=.
std::string name_of_container_directory() {
  std::vector<std::string> warnings;
  const auto settings = effective_settings({}, warnings);
  if (!settings) return std::string(restart::default_container_dir);
  return restart::name_of(restart::without_dots(std::string(settings->text("container_dir"))));
}

/// True if mcr would believe a file of this user's at `path`: an mcr.conf, or a file of a directory of containers. Only
/// names that mcr uses there count, because paths in an index may be absolute, and a directory above them may be called
/// mcr. Names that tell a file of any such directory count everywhere. `above`: the name of the directory in which the
/// path begins.
bool is_believed_at(const std::string& path, std::string above,
                    const std::string& container_directory) {
  for (const std::string& name : restart::split_path(path)) {
    if (name == "mcr.conf" || name == restart::native_members_directory ||
        restart::is_container_name(name))
      return true;
    const bool is_among_containers =
        above == restart::default_container_dir || above == container_directory;
    if (is_among_containers && (name.starts_with("set-") || name.starts_with("unfinished-")))
      return true;
    above = name;
  }
  return false;
}

/// Fails, before anything is written, if mcr would believe a file at its name (whoever wrote the container chose the
/// names, and what is unpacked belongs to this user), or if files of two sets would get the same name: one would
/// replace the other, and the result would be a mix of sets.
Result<void> check_names(const Containers& containers, const UnpackCommand& command) {
  struct First {
    std::string container;
    SetKey set;
    bool is_alone;  ///< a set of one file
  };
  std::map<std::string, First> first;
  const std::string container_directory = name_of_container_directory();
  const std::string target = restart::real_path(command.directory);
  if (is_believed_at(restart::path_tail(target, 2), {}, container_directory)) {
    return Error{Cause::usage, command.directory +
                                   " is where mcr keeps files of its own, and would trust these as "
                                   "yours; nothing was written. Name another directory with -d"};
  }
  const auto add = [&](const restart::ContainerReader& container, std::size_t part,
                       const std::string& path, std::uint32_t rank) -> Result<void> {
    if (!is_wanted(command, rank)) return {};
    const std::string below = restart::path_below(path, rank);
    if (is_believed_at(below, restart::name_of(target), container_directory)) {
      return Error{Cause::usage,
                   container.name() + ": the file of rank " + std::to_string(rank) +
                       " has the path " + below +
                       ", where mcr keeps files of its own and would trust this one as yours; "
                       "nothing was written. --rank restores only the ranks given"};
    }
    const First here{container.name(), key_of(container, part), is_of_one_file(container.set())};
    const auto [there, is_first] = first.try_emplace(below, here);
    if (is_first || there->second.set == here.set) return {};
    if (there->second.is_alone && here.is_alone) return {};
    return Error{
        Cause::usage,
        "the file " + below + " is in two sets, of the containers " + there->second.container +
            " and " + container.name() +
            "; nothing was written. Unpack one set at a time: `mcr latest` names the newest"};
  };
  for (const Container& container : containers) {
    const auto& records = *MCR_TRY(container.reader->parts());
    for (std::size_t i = 0; i < records.size(); ++i) {
      const restart::PartEntry& entry = records[i].entry;
      if (container.without.contains(entry.part)) continue;
      MCR_TRY(add(*container.reader, i, entry.path, entry.rank));
    }
    for (const restart::NativeMember& native : container.reader->set().natives)
      MCR_TRY(add(*container.reader, 0, native.path, native.rank));
  }
  return {};
}

/// Calls `use` for each wanted native member of the sets, with its file: at its path, or where it was kept
/// aside.
template <typename Use>
Result<void> for_each_native(const Containers& containers, const UnpackCommand& command, Use use) {
  NamesByInode names;
  for (const Container& named : containers) {
    const auto& container = named.reader;
    const HeldContainers& home = *named.home;
    const uid_t author = home.beside().author(MCR_TRY(container->status()));
    for (const restart::NativeMember& native : container->set().natives) {
      if (!is_wanted(command, native.rank)) continue;
      const IndexPlace place = place_in_tree(home, container->set(), native.path);
      MCR_TRY(use(
          named, native,
          MCR_TRY(open_native(home, container->set(), place, native, author, O_RDONLY, names))));
    }
  }
  return {};
}

/// An error if a native member is missing: nothing is written then.
Result<void> check_natives(const Containers& containers, const UnpackCommand& command) {
  return for_each_native(containers, command, [](const auto&, const auto&, const OpenNative&) {
    return Result<void>();
  });
}

Result<void> copy_natives(const Containers& containers, const UnpackCommand& command,
                          restart::UnpackReport& report) {
  auto directories = MCR_TRY(restart::DirectoriesBelow::open(command.directory));
  const auto existing = command.force ? restart::Existing::replaced : restart::Existing::kept;
  const auto copy = [&](const Container& container, const restart::NativeMember& native,
                        const OpenNative& from) -> Result<void> {
    const std::string below = restart::path_below(native.path, native.rank);
    const std::string target = command.directory + "/" + below;
    const std::size_t slash = below.rfind('/');
    const int home =
        MCR_TRY(directories.make(slash == std::string::npos ? "" : below.substr(0, slash)));
    // The file's directories may keep users out. The container alone does not tell: it may be of another run, and name
    // a file of this user's in a closed directory.
    const restart::Access access = restart::without_list(
        restart::closed_by_directories(MCR_TRY(restart::access_of(from.file)), from.directory,
                                       container.home->place()->directories.outer));
    const mode_t mode = restart::mode_within(access.mode, MCR_TRY(container.reader->access()));
    restart::PendingFile pending =
        MCR_TRY(restart::PendingFile::create(home, restart::name_of(below), mode));
    // If the copy gets another group than the file, the members of that group may be unable to read the file.
    if (const struct stat made = MCR_TRY(pending.file().status()); made.st_gid != access.group) {
      const mode_t for_all = (made.st_mode >> 3) & made.st_mode & S_IRWXO;
      if (::fchmod(pending.file().descriptor(), (made.st_mode & S_IRWXU) | for_all) != 0)
        return restart::system_error("cannot change the mode of", target);
    }
    MCR_TRY(restart::copy_data(from.file, pending.file(), 0, native.size));
    MCR_TRY(restart::refuse_stub(pending.file(), container.reader->name(), native.rank));
    const auto finished = pending.finish(restart::Durability::none, existing);
    if (!finished) {
      const bool is_there = finished.error().system_error == EEXIST;
      return Error{
          is_there ? Cause::usage : Cause::system,
          is_there ? target + " exists already; --force replaces it" : finished.error().message};
    }
    report.bytes += native.size;
    report.files.push_back(below);
    return {};
  };
  return for_each_native(containers, command, copy);
}

/// Opens a container that the user named by its own path, perhaps through a link.
Result<Container> open_argument(const std::string& path) {
  restart::File file = MCR_TRY(restart::File::open(AT_FDCWD, path, O_RDONLY | O_NONBLOCK));
  auto home = std::make_shared<const HeldContainers>(MCR_TRY(directory_of(file, path)));
  return Container{MCR_TRY(open_container(*home, std::move(file), path)), home, {}};
}

Result<Container> open_wanted(const NamedContainer& named, const std::string& argument,
                              HeldByPath& directories) {
  Container container;
  if (named.path == argument) {
    container = MCR_TRY(open_argument(argument));
  } else {
    // The user has named the container's directory himself, or only the one above.
    const std::string file = restart::name_of(named.path);
    const bool is_named = named.path == in_directory(argument, file) ||
                          named.path == in_directory(restart::parent_of(argument), file);
    container.home =
        MCR_TRY(directories.hold(restart::parent_of(named.path),
                                 is_named ? LinksToContainers::any : LinksToContainers::trusted));
    container.reader = MCR_TRY(open_container(*container.home, named.path));
  }
  if (named.file && restart::FileIdentity(MCR_TRY(container.reader->status())) != *named.file) {
    errno = ESTALE;
    return restart::system_error("another process replaced the file", named.path);
  }
  const auto& records = *MCR_TRY(container.reader->parts());
  if (named.sets.empty()) return container;
  for (std::size_t i = 0; i < container.reader->set().bundled.size(); ++i) {
    const restart::SetIdentity set = restart::set_of_part(container.reader->set(), i);
    if (!name_prefix_of(set).starts_with(named.sets))
      container.without.insert(records[i].entry.part);
  }
  return container;
}

Error with_remedy(Error error, const std::string& remedy) {
  if (error.cause == Cause::damaged) error.message += remedy;
  return error;
}

/// True if this user does not trust the container's owner. If such a container cannot be opened,
/// this user's sets are not affected.
bool is_of_a_stranger(const std::string& path, HeldByPath& directories) {
  struct stat status {};
  const auto home = directories.hold(restart::parent_of(path));
  return home &&
         restart::system_calls().fstatat((*home)->directory().descriptor(),
                                         restart::name_of(path).c_str(), &status,
                                         AT_SYMLINK_NOFOLLOW) == 0 &&
         !(*home)->beside().believes(status.st_uid, ::geteuid());
}

/// Opens the containers that one argument names. If this user trusts some of them
/// (restart::Beside), leaves out the others, because another user may make containers with the same
/// names and tables.
Result<Containers> open_named(const std::string& argument) {
  Containers own;
  Containers others;
  std::set<uid_t> owners;
  std::optional<Error> left_out;
  HeldByPath directories;
  const NamedByArgument found = MCR_TRY(look_up_argument(argument));
  MCR_TRY(check_stub(argument, found));
  for (const NamedContainer& named : found.containers) {
    auto opened = open_wanted(named, argument, directories);
    if (!opened && is_of_a_stranger(named.path, directories)) {
      print_line(stderr, "mcr unpack: %s is ignored, because it belongs to another user",
                 named.path.c_str());
      if (!left_out) left_out = opened.error();
      continue;
    }
    if (!opened)
      return with_remedy(
          opened.error(),
          "; no file of this container can be restored. `mcr latest` names the newest whole set");
    Container container = *std::move(opened);
    const struct stat status = MCR_TRY(container.reader->status());
    const restart::Beside& beside = container.home->beside();
    const bool is_own = beside.believes(beside.author(status), ::geteuid());
    if (!is_own) owners.insert(status.st_uid);
    (is_own ? own : others).push_back(std::move(container));
  }
  if (own.empty() && owners.size() > 1) {
    return Error{Cause::usage,
                 argument +
                     ": the containers belong to several users, who may have stored different data "
                     "under the same names; name one set, or single containers"};
  }
  if (own.empty() && others.empty() && left_out) return *left_out;
  if (own.empty()) return others;
  for (const Container& other : others)
    print_line(stderr, "mcr unpack: %s is ignored, because it belongs to another user",
               other.reader->name().c_str());
  return own;
}

/// Says which of the unpacked files are older than a plain file at their path: the program has
/// written that file natively since, so its newest bytes are in no container.
void tell_of_newer_plain_files(const Containers& containers, const UnpackCommand& command,
                               const std::set<restart::PartId>& replaced) {
  std::string first;
  std::size_t count = 0;
  for (const Container& container : containers) {
    const restart::SetIdentity& set = container.reader->set();
    for (const auto& record : **container.reader->parts()) {
      const restart::PartEntry& entry = record.entry;
      if (!is_wanted(command, entry.rank) || replaced.contains(entry.part) ||
          container.without.contains(entry.part))
        continue;
      const std::string path = place_in_tree(*container.home, set, entry.path).text;
      const auto there = restart::file_at(AT_FDCWD, path, restart::Links::not_followed);
      if (there.kind != restart::FileAt::Kind::plain_file ||
          restart::modified_ns(there.status) <= set.created_ns)
        continue;
      if (count++ == 0) first = path;
    }
  }
  if (count == 0) return;
  const std::string others = count == 1 ? "" : " (so are " + std::to_string(count - 1) + " more)";
  print_line(stderr,
             "mcr unpack: %s is a plain file that is newer than its container%s; what was unpacked "
             "is the older writing",
             first.c_str(), others.c_str());
}

std::string nothing_unpacked(const Containers& containers) {
  const bool is_note = containers.size() == 1 && containers.front().reader->set().natives.empty() &&
                       containers.front().reader->parts().has_value() &&
                       (*containers.front().reader->parts())->empty();
  if (!is_note) return "the containers have no file of these ranks; nothing was written";
  const std::string& name = containers.front().reader->name();
  return name +
         " is a supplement without parts, so nothing was written; name the whole set instead: " +
         name.substr(0, name.rfind(".r") + 1);
}

/// Lets the card decode, if gpu= says so. Waits for it, because there is one unpacking only.
void use_card(unsigned threads) {
  namespace gpu = codecs::gpu;
  std::vector<std::string> warnings;
  const auto settings = effective_settings({}, warnings);
  if (!settings) return;
  const auto card = gpu::card_options(settings->text("gpu"), settings->bytes("gpu_memory"));
  if (!card.is_on) return;
  static constexpr restart::FrameDecoding where_faster{gpu::decode_frame_where_faster, nullptr};
  restart::set_frame_decoding(where_faster);
  gpu::decode_on_card(card, gpu::DriverUse::own_process, threads);
  gpu::begin_to_open_card(card);
  gpu::await_card(std::chrono::seconds(10));
}

/// Prints a line for each set that is not whole in these containers.
void tell_of_missing_ranks(const Containers& containers) {
  std::map<restart::GenerationName, restart::Account> sets;
  for (const Container& container : containers) {
    const restart::SetIdentity& set = container.reader->set();
    if (!set.bundled.empty() || is_of_one_file(set)) continue;
    for (const auto& share : restart::shares_of(*container.reader).value_or({}))
      restart::account_for(sets[{set.launch, set.sequence, set.masked_name}], share);
  }
  for (const auto& [name, account] : sets) {
    if (restart::wholeness(account) == restart::Wholeness::whole) continue;
    if (account.has_drifted()) {
      print_line(stderr,
                 "mcr unpack: the files of %s (launch %s, sequence %llu) may be of different steps",
                 name.masked_name.c_str(), name.launch.c_str(),
                 static_cast<unsigned long long>(name.sequence));
      continue;
    }
    print_line(
        stderr,
        "mcr unpack: %s (launch %s, sequence %llu) is not whole in these containers: %zu of %u "
        "ranks have a file there",
        name.masked_name.c_str(), name.launch.c_str(),
        static_cast<unsigned long long>(name.sequence), account.wrote.size(), account.rank_count);
  }
}

/// Prints a line for each set if a later job has written some of its files again, and not the others.
void tell_of_partial_amendments(const Containers& containers) {
  std::map<SetKey, Amendments> sets;
  for (const Container& container : containers) {
    const restart::SetIdentity& set = container.reader->set();
    if (is_of_one_file(set)) continue;
    const auto add = [&](std::size_t part, std::uint32_t rank, const std::string& path) {
      sets[key_of(*container.reader, part)].add(restart::set_of_part(set, part).masked_name, rank,
                                                place_in_tree(*container.home, set, path).text,
                                                set.amended_by);
    };
    const auto& records = **container.reader->parts();
    for (std::size_t i = 0; i < records.size(); ++i)
      add(i, records[i].entry.rank, records[i].entry.path);
    if (set.amended_by.empty()) continue;
    for (const restart::NativeMember& native : set.natives) add(0, native.rank, native.path);
  }
  for (const auto& [key, amendments] : sets) {
    if (!amendments.are_partial()) continue;
    const auto& [masked_name, launch, sequence, container] = key;
    print_line(stderr,
               "mcr unpack: a later job wrote into some files of %s (launch %s, sequence %llu) and "
               "not into the others, so what was unpacked may be of different steps",
               masked_name.c_str(), launch.c_str(), static_cast<unsigned long long>(sequence));
  }
}

Result<restart::UnpackReport> unpack_into_directory(const UnpackCommand& command) {
  ProgressBar bar("unpacking");
  restart::UnpackOptions options;
  options.ranks = command.ranks;
  options.replace = command.force;
  const unsigned threads = command.threads == 0 ? restart::usable_cpu_count() : command.threads;
  options.parallel_for = parallel_on(threads);
  use_card(threads);
  options.progress = bar.function();
  options.is_interrupted = was_interrupted;
  Containers containers;
  std::map<std::string, std::size_t> places;
  for (const std::string& argument : command.arguments) {
    for (Container& container : MCR_TRY(open_named(argument))) {
      const auto [place, is_new] = places.try_emplace(container.reader->name(), containers.size());
      if (is_new) {
        containers.push_back(std::move(container));
        continue;
      }
      // The bundle was named twice: unpack the sets of both names.
      std::erase_if(containers[place->second].without,
                    [&](const auto& part) { return !container.without.contains(part); });
    }
  }
  MCR_TRY(leave_out_repeated_parts(containers));
  MCR_TRY(check_names(containers, command));
  const auto replaced = MCR_TRY(replaced_parts(containers));
  const std::string others =
      command.ranks.empty()
          ? ". `mcr verify` says which ranks can be restored; --rank restores only the ranks given"
          : "";
  if (const auto checked = check_natives(containers, command); !checked)
    return with_remedy(checked.error(), others);
  restart::UnpackReport all;
  for (const Container& container : containers) {
    options.without = replaced;
    options.without.insert(container.without.begin(), container.without.end());
    const auto report = restart::unpack(*container.reader, command.directory, options);
    if (!report) return with_remedy(report.error(), others);
    all.bytes += report->bytes;
    all.files.insert(all.files.end(), report->files.begin(), report->files.end());
  }
  if (const auto copied = copy_natives(containers, command, all); !copied)
    return with_remedy(copied.error(), others);
  if (all.files.empty()) return Error{Cause::usage, nothing_unpacked(containers)};
  tell_of_newer_plain_files(containers, command, replaced);
  if (command.ranks.empty()) {
    tell_of_missing_ranks(containers);
    tell_of_partial_amendments(containers);
  }
  return all;
}

Result<restart::UnpackReport> unpack_all(const UnpackCommand& command) {
  lift_limits();
  if (command.directory.empty())
    return Error{Cause::usage,
                 "the name after -d is empty; name the directory into which the files are written"};
  auto made = make_directories(command.directory);
  if (!made) return Error{Cause::system, made.error().message, made.error().system_error};
  auto unpacked = unpack_into_directory(command);
  if (!unpacked && *made) (*made)->remove();  // unless it has files by now
  return unpacked;
}

}  // namespace

RunCommand declare_unpack(CLI::App& app) {
  const auto command = std::make_shared<UnpackCommand>();
  app.add_option("CONTAINER", command->arguments,
                 "container, stub, directory, or the beginning of the paths of a set's containers")
      ->required();
  app.add_option("-d,--directory", command->directory, "directory into which the files are written")
      ->required();
  app.add_option("--rank", command->ranks, "restore only the files of these ranks")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("-j,--threads", command->threads, "0: all cores that this process may use");
  app.add_flag("-f,--force", command->force, "replace existing files");
  app.footer(usual_exit_codes);
  return [command](const CommonOptions& common) {
    note_interrupts();
    const auto report = unpack_all(*command);
    if (was_interrupted()) end_as_interrupted();
    if (!report) return print_error(common, "unpack", report.error());
    const std::string problem = codecs::gpu::why_no_card();
    if (!problem.empty())
      print_line(stderr, "mcr unpack: %s", codecs::gpu::problem_text(problem).c_str());
    if (common.json) {
      print_json({{"directory", command->directory},
                  {"files", report->files},
                  {"bytes", report->bytes},
                  {"gpu_bytes", codecs::gpu::card_decoded_bytes()},
                  {"gpu_problem", problem}});
    } else {
      print_line(stdout, "%s, %s, in %s", restart::counted(report->files.size(), "file").c_str(),
                 size_text(report->bytes).c_str(), command->directory.c_str());
    }
    return exit_code::success;
  };
}

}  // namespace mcr::aggregation
