// SPDX-License-Identifier: BSD-3-Clause
#include "vol/capture/stub_source.hpp"

#include <fcntl.h>

#include <cerrno>

#include "restart/open/open_part.hpp"
#include "restart/stage/stage.hpp"
#include "vol/process/info_string.hpp"
#include "vol/process/process.hpp"

namespace mcr::vol {

namespace {

class FlushedPart : public restart::PartSource {
 public:
  FlushedPart(restart::File bytes, std::uint64_t size) : bytes_(std::move(bytes)), size_(size) {}
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  Result<void> read_at(std::uint64_t offset, MutableByteSpan out) override {
    return bytes_.read_at(offset, out);
  }

 private:
  restart::File bytes_;
  std::uint64_t size_;
};

}  // namespace

Result<std::unique_ptr<restart::PartSource>> open_flushed(
    const restart::Stub& stub, std::optional<restart::PartOrigin>* origin) {
  const auto directory = MCR_TRY(restart::LaunchDirectory::open(stub.launch_directory));
  const auto journal = MCR_TRY(directory.journal(restart::LaunchDirectory::State::open, stub.part));
  if (!journal.publish || journal.publish->native)
    return Error{Cause::system, "its writer has it open and has not flushed it", ENOENT};
  auto bytes = MCR_TRY(directory.open_unpublished(stub.part));
  if (origin != nullptr) *origin = restart::staged_origin(journal.begin);
  return std::unique_ptr<restart::PartSource>(
      std::make_unique<FlushedPart>(std::move(bytes), journal.publish->size));
}

Result<std::unique_ptr<restart::PartSource>> open_source(
    const restart::Stub& stub, const std::string& path,
    std::optional<restart::PartOrigin>* origin) {
  const auto settings = MCR_TRY(settings_at(path));
  auto source =
      restart::open_part(stub, path, std::string(settings->text("allow")), nullptr, origin);
  if (source) return source;
  if (auto flushed = open_flushed(stub, origin)) return flushed;
  return source;
}

}  // namespace mcr::vol
