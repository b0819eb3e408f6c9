// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stub_file.hpp"

#include <array>
#include <utility>

namespace mcr::restart {

bool is_stub_file(const File& file) {
  file.leave_access_time();
  std::array<std::byte, Stub::head_bytes> head;
  const auto got = file.read_some_at(0, head);
  return got && looks_like_stub(ByteSpan(head).first(*got));
}

Result<Stub> read_stub_file(const File& file) {
  file.leave_access_time();
  return read_stub(MCR_TRY(file.read_all(Stub::max_bytes)));
}

Stub stub_of(const PartBegin& begin, std::string container_directory,
             std::string launch_directory) {
  Stub stub;
  stub.part = begin.part;
  stub.launch = begin.launch;
  stub.sequence = begin.sequence;
  stub.rank = begin.rank;
  stub.rank_count = begin.rank_count;
  stub.node = begin.node;
  stub.masked_names = begin.masked_names;
  stub.container_directory = std::move(container_directory);
  stub.launch_directory = std::move(launch_directory);
  stub.path = begin.path;
  return stub;
}

}  // namespace mcr::restart
