// SPDX-License-Identifier: BSD-3-Clause
// A job of a few ranks whose parts lie in a stage, made by hand with what the plugin uses:
// presence, part, journal and stub are the real ones, and the bytes are real checkpoints
// (test/data).
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "aggregation/commit/put_back.hpp"
#include "restart/base/file.hpp"
#include "restart/base/system.hpp"
#include "restart/format/masked_name.hpp"
#include "restart/stage/stage.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/scratch_directory.hpp"

namespace mcr::aggregation {

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class StagedJob {
 public:
  explicit StagedJob(std::uint32_t ranks, const std::string& node = "n0")
      : ranks_(ranks), node_(node), directory_(make(root_ / "stage", node)) {
    std::filesystem::create_directory(root_ / "out");
    begin_ns = restart::clock_ns(CLOCK_REALTIME);  // later than the birth of the directory
  }

  [[nodiscard]] const restart::LaunchDirectory& directory() const { return directory_; }
  [[nodiscard]] std::string out(const std::string& name) const { return root_ / ("out/" + name); }
  [[nodiscard]] std::string stage() const { return root_ / "stage"; }

  void join(std::uint32_t rank) {
    auto joined = directory_.join(rank, ranks_);
    REQUIRE(joined);
    presences_.insert_or_assign(rank, std::move(*joined));
  }
  void end(std::uint32_t rank, int status = 0) {
    REQUIRE(directory_.end_presence(presences_.at(rank), status));
  }
  /// As a process that is gone: its lock is free.
  void leave(std::uint32_t rank) { presences_.at(rank).file = restart::File(); }

  /// Begins a part: journal in open/, bytes, stub at the path.
  struct Begun {
    restart::PartBegin begin;
    restart::File journal;
    restart::File bytes;
  };
  Begun begin(std::uint32_t rank, const std::string& name, const std::string& content,
              std::uint64_t sequence = 0) {
    auto made = directory_.create_part(rank);
    REQUIRE(made);
    restart::PartBegin begin;
    begin.part = made->part;
    begin.path = out(name);
    begin.path_as_passed = name;
    struct stat home {};
    REQUIRE(::stat((root_ / "out").c_str(), &home) == 0);
    begin.directory_device = home.st_dev;
    begin.directory_inode = home.st_ino;
    begin.rank = rank;
    begin.rank_count = ranks_;
    begin.local_rank_count = ranks_;
    begin.node = node_;
    begin.launch = "launch";
    begin.sequence = sequence;
    begin.masked_names = restart::masked_full_names(name, begin.path, rank, ranks_);
    begin.presence = presences_.at(rank).name;
    begin.mode = 0640;
    begin.begin_ns = begin_ns;
    begin.settings = settings;
    if (std::filesystem::exists(begin.path)) {
      begin.replaced = restart::Replaced::native_file;
      const auto there = look_at(begin);
      if (there && there->part) {
        begin.replaced = restart::Replaced::stub;
        begin.replaced_part = there->part;
      }
    } else {
      write_stub(begin);
      struct stat made_there {};
      REQUIRE(::stat(begin.path.c_str(), &made_there) == 0);
      begin.file_inode = made_there.st_ino;
    }
    auto journal = directory_.begin(begin);
    REQUIRE(journal);
    REQUIRE(made->bytes.write_at(0, as_bytes(content)));
    REQUIRE(made->bytes.truncate(content.size()));
    return {begin, std::move(*journal), std::move(made->bytes)};
  }
  void write_stub(const restart::PartBegin& begin) const {
    const Bytes stub = restart::write_stub(stub_of(begin, directory_.path()));
    std::ofstream(begin.path, std::ios::binary) << as_text(stub);
    REQUIRE(::chmod(begin.path.c_str(), 0640) == 0);
  }
  restart::PartId publish(Begun& begun, bool provisional = false, bool put_stub = true) {
    restart::PartPublish record;
    record.size = *begun.bytes.size();
    record.publish_ns = 2'000'000'000;
    record.provisional = provisional;
    REQUIRE(directory_.publish(begun.begin.part, begun.journal, record));
    if (!provisional) {
      begun.bytes = restart::File();
      if (put_stub) write_stub(begun.begin);
    }
    return begun.begin.part;
  }
  restart::PartId write(std::uint32_t rank, const std::string& name, const std::string& content,
                        std::uint64_t sequence = 0) {
    auto begun = begin(rank, name, content, sequence);
    return publish(begun);
  }

  [[nodiscard]] std::size_t count(restart::LaunchDirectory::State state) const {
    return directory_.list(state)->size();
  }

  std::string settings;  ///< ride in the journals
  std::uint64_t begin_ns = 0;

 private:
  static restart::LaunchDirectory make(const std::string& stage, const std::string& node) {
    auto made = restart::LaunchDirectory::create(stage, node, "launch");
    REQUIRE(made);
    return std::move(*made);
  }

  restart::ScratchDirectory root_;
  std::uint32_t ranks_;
  std::string node_;
  restart::LaunchDirectory directory_;
  std::map<std::uint32_t, restart::LaunchDirectory::Presence> presences_;
};

}  // namespace mcr::aggregation
