// SPDX-License-Identifier: BSD-3-Clause
#include "restart/container/shared_frames.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <filesystem>
#include <thread>

#include "restart/base/lock.hpp"
#include "restart/container/part_image.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/faults.hpp"
#include "test/unit/restart/made_container.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr;
using namespace mcr::restart;
namespace fs = std::filesystem;

namespace {

// The container has five frames of "a" for each rank, one frame of "b" for both ranks, and a frame
// of the skeletons, which is too small to be shared.
constexpr unsigned scale = 20;
constexpr std::uint64_t a_frame_bytes = 160'000, frame_bytes = 96'000;
constexpr std::size_t frame_in_part = 100 + 5 * a_frame_bytes;

struct Share final : FrameShare {
  explicit Share(const LaunchDirectory& in) : directory(in) { longest_wait_ns = 50'000'000; }
  const LaunchDirectory* place() override { return is_led ? &directory : nullptr; }
  std::uint64_t free_bytes() override { return room_bytes; }

  const LaunchDirectory& directory;
  bool is_led = true;
  std::uint64_t room_bytes = 1U << 30;
};

/// Number of bytes that were read from the container, with its frames.
std::uint64_t container_bytes = 0;
dev_t container_device = 0;
ino_t container_inode = 0;
const SystemCalls& counting() {
  static const SystemCalls calls = [] {
    SystemCalls table = real_system_calls();
    table.pread = [](int descriptor, void* out, std::size_t bytes, off_t offset) {
      const ssize_t got = real_system_calls().pread(descriptor, out, bytes, offset);
      struct stat status {};
      if (::fstat(descriptor, &status) == 0 && status.st_ino == container_inode &&
          status.st_dev == container_device && got > 0)
        container_bytes += static_cast<std::uint64_t>(got);
      return got;
    };
    return table;
  }();
  return calls;
}

struct Restart {
  Restart() {
    auto made_directory = LaunchDirectory::create(scratch / "stage", "node", "launch");
    REQUIRE(made_directory);
    directory = std::make_unique<LaunchDirectory>(std::move(*made_directory));
    struct stat status {};
    REQUIRE(::stat(made.path.c_str(), &status) == 0);
    container_device = status.st_dev;
    container_inode = status.st_ino;
    container_bytes = 0;
  }

  /// Opens the rank's part with a reader of its own, as a separate process would.
  std::unique_ptr<PartSource> open(std::size_t rank, std::shared_ptr<FrameShare> share) const {
    const auto reader = made.open();
    const auto parts = reader->parts();
    REQUIRE(parts);
    auto image = open_part_image(reader, (**parts)[rank], std::move(share));
    REQUIRE(image);
    return std::move(*image);
  }
  std::unique_ptr<PartSource> open(std::size_t rank) const {
    return open(rank, std::make_shared<Share>(*directory));
  }

  [[nodiscard]] bool gives_all(PartSource& image, std::size_t rank) const {
    Bytes whole(made.parts[rank].size());
    return image.read_at(0, whole) && whole == made.parts[rank];
  }

  [[nodiscard]] std::string file() const {
    for (const auto& entry : fs::directory_iterator(directory->path() + "/frames"))
      return entry.path();
    return {};
  }

  ScratchDirectory scratch;
  MadeContainer made{scratch / "container", scale};
  std::unique_ptr<LaunchDirectory> directory;
};

FrameOfContainer shared_frame(const MadeContainer& made) { return {10, made.frames[10]}; }

}  // namespace

TEST_CASE(
    "a frame of two ranks is decoded by the first rank that needs it, and read by the second") {
  const Restart restart;
  const ReplacedSystemCalls replaced(counting());
  const auto first = restart.open(0);
  const auto second = restart.open(1);
  const auto alone = restart.open(1, nullptr);
  REQUIRE(restart.gives_all(*first, 0));
  container_bytes = 0;
  REQUIRE(restart.gives_all(*second, 1));
  const std::uint64_t with_first = container_bytes;
  container_bytes = 0;
  REQUIRE(restart.gives_all(*alone, 1));
  CHECK(container_bytes - with_first == restart.made.frames[10].stored_bytes);
}

TEST_CASE("frames that belong to one part alone are not shared") {
  const Restart restart;
  const auto image = restart.open(0);
  Bytes some(5 * a_frame_bytes);
  REQUIRE(image->read_at(100, some));
  CHECK(restart.file().empty());
}

TEST_CASE("reads of any length from a frame that another rank decoded give the part's bytes") {
  const Restart restart;
  REQUIRE(restart.gives_all(*restart.open(0), 0));
  const auto image = restart.open(1);
  const Bytes& part = restart.made.parts[1];
  for (std::size_t begin = 0; begin < part.size(); begin += 4099) {
    for (const std::size_t count :
         {std::size_t{1}, std::size_t{100}, std::size_t{16384}, std::size_t{50000}}) {
      Bytes read(std::min(count, part.size() - begin));
      REQUIRE(image->read_at(begin, read));
      REQUIRE(
          std::equal(read.begin(), read.end(), part.begin() + static_cast<std::ptrdiff_t>(begin)));
    }
  }
}

TEST_CASE("whatever happens to the file with shared frames, the part's bytes are right") {
  const Restart restart;
  REQUIRE(restart.gives_all(*restart.open(0), 0));
  const std::string path = restart.file();
  const std::uint64_t size = fs::file_size(path);
  const auto reader = restart.open(1);
  Bytes one(1);
  REQUIRE(reader->read_at(200, one));
  const auto file = File::open(AT_FDCWD, path, O_RDWR);
  REQUIRE(file);
  SECTION("bytes change") {
    const Bytes good = *read_file(AT_FDCWD, path, 1U << 24);
    std::size_t changed = 0, replaced = 0;
    for (std::uint64_t place = 0; place < size; place += place < 8192 ? 7 : 1501) {
      const Bytes flipped{good[place] ^ std::byte{0x10}};
      REQUIRE(file->write_at(place, flipped));
      REQUIRE(restart.gives_all(*restart.open(1), 1));
      if (place % 5 == 0) {
        REQUIRE(restart.gives_all(*reader, 1));
      }
      REQUIRE(restart.file() == path);
      ++changed;
      if (fs::file_size(path) != size)
        ++replaced;  // the frame was decoded again, and stored behind the damaged copy
      REQUIRE(file->truncate(size));
      REQUIRE(file->write_at(0, good));
    }
    // At least each change in rank 1's bytes of the frame.
    CHECK(replaced > frame_bytes / 2 / 1501);
    WARN(changed << " bytes changed, for " << replaced << " of them the frame was decoded again");
  }
  SECTION("the file is cut") {
    for (std::uint64_t length = size; length > 0; length -= std::min<std::uint64_t>(length, 9973)) {
      REQUIRE(file->truncate(length));
      REQUIRE(restart.gives_all(*restart.open(1), 1));
      REQUIRE(restart.gives_all(*reader, 1));
    }
  }
  SECTION("the file is overwritten with another container") {
    const MadeContainer other(restart.scratch / "other", 2 * scale);
    REQUIRE(file->truncate(0));
    REQUIRE(file->write_at(0, *read_file(AT_FDCWD, other.path, 1U << 24)));
    REQUIRE(restart.gives_all(*restart.open(1), 1));
    REQUIRE(restart.gives_all(*reader, 1));
  }
}

TEST_CASE("a damaged copy is replaced by the next rank that decodes the frame") {
  const Restart restart;
  REQUIRE(restart.gives_all(*restart.open(0), 0));
  const auto file = File::open(AT_FDCWD, restart.file(), O_RDWR);
  REQUIRE(file);
  const Bytes zeros(static_cast<std::size_t>(*file->size()) - 8192);
  REQUIRE(file->write_at(8192, zeros));
  REQUIRE(restart.gives_all(*restart.open(1), 1));
  const ReplacedSystemCalls replaced(counting());
  Share share(*restart.directory);
  const auto reader = restart.made.open();
  const auto frames = SharedFrames::open(share, *restart.directory, *reader);
  REQUIRE(frames);
  Bytes raw(frame_bytes);
  CHECK((*frames)->read(shared_frame(restart.made), 0, raw));
}

TEST_CASE("a rank waits for another rank's decoding, and uses the decoded frame") {
  const Restart restart;
  auto patient = std::make_shared<Share>(*restart.directory);
  patient->longest_wait_ns = 60'000'000'000;
  const auto container = restart.made.open();
  const auto other = SharedFrames::open(*patient, *restart.directory, *container);
  REQUIRE(other);
  const FrameOfContainer frame = shared_frame(restart.made);
  REQUIRE((*other)->begin_making(frame));
  const auto image = restart.open(1, patient);
  Bytes head(1000);
  std::thread decodes([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    Bytes raw(frame_bytes);
    Scratch scratch;
    const auto reader = restart.made.open();
    const auto dataset = reader->dataset(1);
    CHECK(dataset);
    CHECK(reader->decode(*dataset, frame.place, scratch, raw));
    (*other)->put(frame, raw);
    (*other)->end_making(frame);
  });
  CHECK(image->read_at(frame_in_part, head));
  decodes.join();
  CHECK(std::equal(head.begin(), head.end(), restart.made.parts[1].begin() + frame_in_part));
}

TEST_CASE("a rank that dies while decoding releases the frame; the wait for a stopped rank ends") {
  const Restart restart;
  Share share(*restart.directory);
  const auto container = restart.made.open();
  auto other = SharedFrames::open(share, *restart.directory, *container);
  REQUIRE(other);
  REQUIRE((*other)->begin_making(shared_frame(restart.made)));
  SECTION("dead") { other->reset(); }
  SECTION("stopped") {}
  REQUIRE(restart.gives_all(*restart.open(1), 1));
  // In both cases other ranks now find the decoded frame.
  const ReplacedSystemCalls replaced(counting());
  const auto image = restart.open(0);
  const auto alone = restart.open(0, nullptr);
  Bytes tail(1000);
  container_bytes = 0;
  REQUIRE(image->read_at(frame_in_part + 100, tail));
  const std::uint64_t tables = container_bytes;
  container_bytes = 0;
  REQUIRE(alone->read_at(frame_in_part + 100, tail));
  CHECK(container_bytes - tables == restart.made.frames[10].stored_bytes);
}

TEST_CASE("a stopped rank that continues later writes nothing wrong") {
  const Restart restart;
  Share share(*restart.directory);
  const auto container = restart.made.open();
  const auto other = SharedFrames::open(share, *restart.directory, *container);
  REQUIRE(other);
  const FrameOfContainer frame = shared_frame(restart.made);
  REQUIRE((*other)->begin_making(frame));
  REQUIRE(restart.gives_all(*restart.open(1), 1));
  Bytes raw(frame_bytes);
  REQUIRE((*other)->read(frame, 0, raw));
  (*other)->put(frame, raw);
  (*other)->end_making(frame);
  CHECK(restart.gives_all(*restart.open(1), 1));
  CHECK(restart.gives_all(*restart.open(0), 0));
}

TEST_CASE("without room each rank decodes for itself, and no rank waits") {
  const Restart restart;
  const auto share = std::make_shared<Share>(*restart.directory);
  share->longest_wait_ns = 3'600'000'000'000;
  share->room_bytes = 1000;
  const auto first = restart.open(0, share);
  const auto second = restart.open(1, share);
  REQUIRE(restart.gives_all(*first, 0));
  REQUIRE(restart.gives_all(*second, 1));
  const auto used = restart.directory->used_bytes();
  REQUIRE(used);
  CHECK(*used <= 16384);
}

TEST_CASE("a file takes at most half of the free bytes") {
  const Restart restart;
  const auto share = std::make_shared<Share>(*restart.directory);
  share->room_bytes = 2 * (frame_bytes + 1000);  // half of this is room for one frame
  REQUIRE(restart.gives_all(*restart.open(0, share), 0));
  REQUIRE(restart.gives_all(*restart.open(1, share), 1));
  const auto used = restart.directory->used_bytes();
  REQUIRE(used);
  CHECK(*used <= frame_bytes + 32768);
}

TEST_CASE("without a leader nothing is shared") {
  const Restart restart;
  const auto share = std::make_shared<Share>(*restart.directory);
  share->is_led = false;
  REQUIRE(restart.gives_all(*restart.open(0, share), 0));
  CHECK(restart.file().empty());
}

TEST_CASE(
    "files that are unused for long are removed and truncated, even if processes have them open") {
  const Restart restart;
  const auto first = restart.open(0);
  REQUIRE(restart.gives_all(*first, 0));
  const auto open_still = File::open(AT_FDCWD, restart.file(), O_RDONLY);
  REQUIRE(open_still);
  const auto is_left = drop_idle_frames(*restart.directory, 0, 3'600'000'000'000);
  REQUIRE(is_left);
  CHECK(*is_left);
  CHECK_FALSE(restart.file().empty());
  const auto is_left_then = drop_idle_frames(*restart.directory, 0, 0);
  REQUIRE(is_left_then);
  CHECK_FALSE(*is_left_then);
  CHECK(restart.file().empty());
  CHECK(*open_still->size() == 0);
  CHECK(restart.gives_all(*first, 0));
  CHECK(restart.gives_all(*restart.open(1), 1));
}

TEST_CASE("files that no process holds are removed sooner") {
  const Restart restart;
  REQUIRE(restart.gives_all(*restart.open(0), 0));
  const auto kept = drop_idle_frames(*restart.directory, 3'600'000'000'000, 3'600'000'000'000);
  REQUIRE(kept);
  CHECK(*kept);
  const auto is_left = drop_idle_frames(*restart.directory, 0, 3'600'000'000'000);
  REQUIRE(is_left);
  CHECK_FALSE(*is_left);
  CHECK(restart.file().empty());
}

TEST_CASE("a rank whose shared file was removed makes a new one") {
  const Restart restart;
  const auto image = restart.open(0);
  Bytes one(1);
  REQUIRE(image->read_at(frame_in_part, one));
  REQUIRE(drop_idle_frames(*restart.directory, 0, 0));
  REQUIRE(restart.file().empty());
  // Read the frame for another part: it is neither known nor cached there.
  const auto held = restart.open(1);
  REQUIRE(held->read_at(frame_in_part, one));
  CHECK_FALSE(restart.file().empty());
}

TEST_CASE("a container with the UUID of another one has a file of its own") {
  const Restart restart;
  const MadeContainer twin(restart.scratch / "twin", scale);
  Share share(*restart.directory);
  const auto first = restart.made.open();
  const auto second = twin.open();
  REQUIRE(first->user_block().uuid == second->user_block().uuid);
  const auto frames = SharedFrames::open(share, *restart.directory, *first);
  const auto others = SharedFrames::open(share, *restart.directory, *second);
  REQUIRE(frames);
  REQUIRE(others);
  const FrameOfContainer frame = shared_frame(restart.made);
  const Bytes raw(frame_bytes);
  (*frames)->put(frame, raw);
  CHECK((*frames)->has(frame));
  CHECK_FALSE((*others)->has(frame));
}

TEST_CASE("all files together never take more than the free bytes") {
  const Restart restart;
  Share share(*restart.directory);
  share.room_bytes = 4 * (frame_bytes + 1000);
  std::vector<std::unique_ptr<MadeContainer>> containers;
  std::vector<std::unique_ptr<SharedFrames>> files;
  const Bytes raw(frame_bytes);
  for (int i = 0; i < 6; ++i) {
    containers.push_back(
        std::make_unique<MadeContainer>(restart.scratch / ("c" + std::to_string(i)), scale));
    auto frames = SharedFrames::open(share, *restart.directory, *containers.back()->open());
    REQUIRE(frames);
    files.push_back(std::move(*frames));
    for (std::uint64_t number = 0; number < 10; ++number)
      files.back()->put({number, shared_frame(restart.made).place}, raw);
  }
  const auto used = restart.directory->used_bytes();
  REQUIRE(used);
  CHECK(*used <= share.room_bytes + 6 * 12288);
}

TEST_CASE("the file does not grow beyond the process's limit on file sizes") {
  struct rlimit before {};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const Restart restart;
  struct rlimit low = before;
  low.rlim_cur = 50'000;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &low) == 0);
  const bool is_right =
      restart.gives_all(*restart.open(0), 0) && restart.gives_all(*restart.open(1), 1);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  CHECK(is_right);
  CHECK(fs::file_size(restart.file()) <= 50'000);
}

TEST_CASE("a directory with shared frames is removed when no process lives") {
  const Restart restart;
  REQUIRE(restart.gives_all(*restart.open(0), 0));
  const auto lock = restart.directory->try_lead();
  REQUIRE(lock);
  REQUIRE(*lock);
  const auto removed = restart.directory->remove_if_done();
  REQUIRE(removed);
  CHECK(*removed);
  CHECK_FALSE(fs::exists(restart.directory->path()));
}

TEST_CASE("whatever system call fails, a read gives the right bytes or an error") {
  for (const Fault fault : {Fault::error, Fault::interrupted, Fault::short_transfer}) {
    for (const int number : {EIO, ENOSPC}) {
      if (fault != Fault::error && number == ENOSPC) continue;
      long calls = 1;
      for (long at = 0; at < calls; ++at) {
        const Restart restart;
        bool wrong = false;
        {
          const FaultySystem faulty(at, fault, number);
          for (const std::size_t rank : {0U, 1U, 0U}) {
            const auto reader = ContainerReader::open(AT_FDCWD, restart.made.path);
            if (!reader) continue;
            const auto parts = (*reader)->parts();
            if (!parts) continue;
            auto image = open_part_image(*reader, (**parts)[rank],
                                         std::make_shared<Share>(*restart.directory));
            Bytes whole(restart.made.parts[rank].size());
            if (!image || !(*image)->read_at(0, whole)) continue;
            wrong = wrong || whole != restart.made.parts[rank];
          }
          calls = faulty.calls();
        }
        REQUIRE_FALSE(wrong);
        REQUIRE(restart.gives_all(*restart.open(1), 1));
      }
    }
  }
}
