// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/open_container.hpp"

#include <fcntl.h>
#include <hdf5.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string_view>

#include "aggregation/mcr/surroundings.hpp"
#include "aggregation/merge/native_file.hpp"
#include "aggregation/merge/rehearsal.hpp"
#include "codecs/base/checksum.hpp"
#include "restart/base/file.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/trust.hpp"
#include "restart/format/container_name.hpp"
#include "restart/format/index.hpp"
#include "restart/sets/container_places.hpp"

namespace mcr::aggregation {
namespace {

constexpr std::uint64_t most_directory_bytes = 1U << 24;

bool is_below_allow_setting(const HeldContainers& home) {
  std::vector<std::string> warnings;
  const auto settings = effective_settings({}, warnings);
  return settings && restart::is_below_allowed(restart::link_path(home.directory().descriptor()),
                                               std::string(settings->text("allow")));
}

/// True if HDF5 finds the index, wherever it is now, and the index begins with the directory whose
/// checksum is in `block`.
bool has_index(const restart::File& file, const restart::UserBlock& block) {
  const auto container = open_natively(restart::link_path(file.descriptor()));
  if (!container) return false;
  const OwnedId index(H5Dopen2(container->get(), "index", H5P_DEFAULT));
  const OwnedId space(H5Dget_space(index.get()));
  const hsize_t begin = 0;
  const hsize_t count = block.directory_bytes;
  const OwnedId memory(H5Screate_simple(1, &count, nullptr));
  Bytes directory(static_cast<std::size_t>(count));
  return H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &begin, nullptr, &count, nullptr) >= 0 &&
         H5Dread(index.get(), H5T_NATIVE_UCHAR, memory.get(), space.get(), H5P_DEFAULT,
                 directory.data()) >= 0 &&
         checksum(directory) == block.directory_checksum;
}

/// True if this user or root has made the file, judged by the directory in which it lies, not by that of a
/// link to it.
bool is_own_work(const restart::File& file, const std::string& name) {
  const auto status = file.status();
  const auto home = directory_of(file, name);
  return status && home && restart::is_believed(home->beside().author(*status), ::geteuid());
}

/// True if an HDF5 program has rewritten the container and copied the user block unchanged. Reads
/// the file through HDF5 in a child process, because damage may crash HDF5. Does not read another
/// user's file, because HDF5 would follow that file's links to any file that this user may read.
bool was_written_anew(const restart::File& file, const std::string& name) {
  Bytes head(restart::UserBlock::bytes);
  if (!is_own_work(file, name) || !file.read_at(0, head)) return false;
  const auto block = restart::read_user_block(head);
  if (!block || block->directory_bytes > most_directory_bytes) return false;
  Rehearsal look(
      1, [&](std::size_t) { return has_index(file, *block) ? std::string() : std::string("no"); });
  return look.passes(0, std::chrono::seconds(2)).has_value();
}

bool has_hdf5_signature(const restart::File& file, std::uint64_t offset) {
  constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
  Bytes head(signature.size());
  return file.read_at(offset, head) && as_text(head) == signature;
}

/// Returns the remedy for a file that is intact but not a container.
std::string remedy(const restart::File& file) {
  if (has_hdf5_signature(file, 0)) {
    return "; it is a plain HDF5 file: h5ls shows it, and `mcr pack` makes a container of such "
           "files";
  }
  const bool is_container = has_hdf5_signature(file, restart::UserBlock::bytes);
  return is_container ? "" : "; name a container, a stub or a directory of checkpoints";
}

}  // namespace

Result<std::shared_ptr<restart::ContainerReader>> open_container(const HeldContainers& home,
                                                                 restart::File file,
                                                                 const std::string& name) {
  const restart::File duplicate(::fcntl(file.descriptor(), F_DUPFD_CLOEXEC, 0), name);
  auto container = restart::ContainerReader::read(std::move(file), name);
  if (container && is_below_allow_setting(home)) (*container)->trust_owner();
  if (container || container.error().cause != Cause::damaged) return container;
  if (!was_written_anew(duplicate, name)) {
    const std::string what_it_is = remedy(duplicate);
    const bool is_named_so = restart::is_container_name(restart::name_of(name));
    return Error{what_it_is.empty() || is_named_so ? Cause::damaged : Cause::usage,
                 container.error().message + what_it_is};
  }
  return Error{Cause::unsupported,
               name +
                   ": another program, such as h5repack, has rewritten this container. HDF5 reads "
                   "its datasets, but only the original container gives the rank files back"};
}

Result<std::shared_ptr<restart::ContainerReader>> open_container(const HeldContainers& home,
                                                                 const std::string& name) {
  return open_container(home, MCR_TRY(home.open_file(name)), name);
}

Result<std::shared_ptr<restart::ContainerReader>> open_container(const std::string& name) {
  restart::File file = MCR_TRY(restart::File::open(AT_FDCWD, name, O_RDONLY | O_NONBLOCK));
  const HeldContainers home = MCR_TRY(directory_of(file, name));
  return open_container(home, std::move(file), name);
}

Result<HeldContainers> directory_of(const restart::File& file, const std::string& name) {
  const std::string path = restart::present_path(file);
  auto home = path.empty()
                  ? HeldContainers::open(restart::parent_of(name), LinksToContainers::any)
                  : HeldContainers::open(restart::parent_of(path), LinksToContainers::trusted);
  // The process may have entered a directory that its user cannot reach from the root.
  const bool is_unreachable = !home && !path.empty() && home.error().system_error == EACCES;
  if (is_unreachable) home = HeldContainers::open(restart::parent_of(name), LinksToContainers::any);
  if (!home) return home.error();
  const restart::FileIdentity identity(MCR_TRY(file.status()));
  const std::string entry = restart::name_of(path.empty() || is_unreachable ? name : path);
  if (!restart::leads_to(home->directory().descriptor(), entry, identity))
    return replaced_meanwhile(name);
  return home;
}

}  // namespace mcr::aggregation
