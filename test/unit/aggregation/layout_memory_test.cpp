// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/layout_memory.hpp"

#include <fcntl.h>

#include "test/support/catch.hpp"
#include "test/unit/aggregation/part_files.hpp"
#include "test/unit/restart/scratch_directory.hpp"

namespace mcr::aggregation {
namespace {

using restart::File;
using restart::ScratchDirectory;

class Reference {
 public:
  explicit Reference(LayoutMemory& memory, hsize_t extent) {
    const std::string path = directory_ / "part.h5";
    make_hdf5_file(path, {}, [&](hid_t file) {
      write_dataset(file, {"x", H5T_IEEE_F64LE, {extent}, {}, false, false}, 1);
    });
    file_ = std::move(*File::open(AT_FDCWD, path, O_RDONLY));
    const auto walked = read_part_layout(path, size(), *memory.types());
    REQUIRE(walked);
    auto part = ReferencePart::make(file_, size(), *memory.types(), *walked);
    REQUIRE(part);
    part_.push_back(std::move(*part));
  }
  [[nodiscard]] std::uint64_t size() const { return *file_.size(); }
  [[nodiscard]] const File& file() const { return file_; }
  [[nodiscard]] std::uint64_t memory_bytes() const { return memory_bytes_; }
  std::vector<ReferencePart> take() {
    memory_bytes_ = part_[0].memory_bytes();
    return std::move(part_);
  }

 private:
  ScratchDirectory directory_;
  File file_;
  std::vector<ReferencePart> part_;
  std::uint64_t memory_bytes_ = 0;
};

constexpr std::uint64_t plenty = 1U << 20;

TEST_CASE("a layout is remembered for the next set of its name") {
  LayoutMemory memory;
  Reference reference(memory, 10);
  CHECK(memory.take("a").empty());
  memory.keep("a", reference.take(), plenty);
  CHECK(memory.take("b").empty());
  auto taken = memory.take("a");
  REQUIRE(taken.size() == 1);
  CHECK(taken[0].layout() == nullptr);
  CHECK(taken[0].fits(reference.file(), reference.size()));
  CHECK(memory.take("a").empty());
}

TEST_CASE("remembered layouts take no more memory than they may") {
  LayoutMemory memory;
  Reference first(memory, 10);
  Reference second(memory, 20);
  Reference third(memory, 30);
  memory.keep("a", first.take(), plenty);
  memory.keep("b", second.take(), plenty);
  const std::uint64_t most = memory.memory_bytes();
  memory.keep("c", third.take(), most);
  CHECK(memory.memory_bytes() <= most);
  CHECK(memory.take("a").empty());
  CHECK(memory.take("b").size() == 1);
  auto left = memory.take("c");
  CHECK(left.size() == 1);
  const std::uint64_t too_little = left[0].memory_bytes() - 1;
  memory.keep("c", std::move(left), too_little);
  CHECK(memory.take("c").empty());
}

TEST_CASE("if the types take too much memory, layouts are forgotten with them") {
  LayoutMemory memory;
  Reference reference(memory, 10);
  const auto types = memory.types();
  auto references = reference.take();
  const std::uint64_t most = 4 * (types->memory_bytes() + reference.memory_bytes());
  memory.keep("a", std::move(references), most);
  references = memory.take("a");
  REQUIRE(references.size() == 1);
  memory.keep("a", std::move(references), most);
  CHECK(memory.types() == types);
  for (std::size_t i = 1; types->memory_bytes() <= most; ++i) {
    const OwnedId type(H5Tcreate(H5T_OPAQUE, i));
    REQUIRE(types->find_or_add(type.get()));
  }
  memory.keep("b", {}, most);
  CHECK(memory.types() != types);
  CHECK(memory.take("a").empty());
}

TEST_CASE("layouts that the last set has used are remembered first") {
  LayoutMemory memory;
  Reference first(memory, 10);
  Reference second(memory, 20);
  auto references = first.take();
  references[0].end_set();
  for (ReferencePart& part : second.take()) references.push_back(std::move(part));
  const std::uint64_t room = memory.types()->memory_bytes() + second.memory_bytes();
  memory.keep("a", std::move(references), room);
  auto taken = memory.take("a");
  REQUIRE(taken.size() == 1);
  CHECK(taken[0].fits(second.file(), second.size()));
}

}  // namespace
}  // namespace mcr::aggregation
