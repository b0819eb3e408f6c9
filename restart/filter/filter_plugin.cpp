// SPDX-License-Identifier: BSD-3-Clause
// The HDF5 filter plugin: frames behind H5Z_class2_t, so that every HDF5 tool reads containers.
//
// The plugin links no HDF5 function, so that any libhdf5 can load it, and several at the same time.
// So buffers for HDF5 come from malloc, not from H5allocate_memory. HDF5's own allocator is malloc
// in all builds except those configured with its memory checker, which no distribution uses. A
// chunk that links to solid frames of its container is decoded by restart/filter, which finds the
// container among the process's open descriptors.
#include <H5PLextern.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "codecs/fpzip/fpzip_trust.hpp"
#include "codecs/frames/frame.hpp"
#include "restart/base/printable.hpp"
#include "restart/filter/filter_parameters.hpp"
#include "restart/filter/linked_chunk.hpp"

namespace mcr::restart {
namespace {

// One Scratch is kept between calls, so that zstd's contexts are not made for each chunk. It is
// never destroyed, because HDF5 may call filters after this library's destructors ran. A concurrent
// caller makes a Scratch of its own.
constinit std::atomic<Scratch*> kept{nullptr};

class BorrowedScratch {
 public:
  BorrowedScratch() : scratch_(kept.exchange(nullptr)) {
    if (scratch_ == nullptr) scratch_ = new Scratch;
  }
  ~BorrowedScratch() {
    Scratch* none = nullptr;
    if (!kept.compare_exchange_strong(none, scratch_)) delete scratch_;
  }
  BorrowedScratch(const BorrowedScratch&) = delete;
  BorrowedScratch& operator=(const BorrowedScratch&) = delete;
  Scratch& operator*() const { return *scratch_; }

 private:
  Scratch* scratch_;
};

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, Free>;

MutableByteSpan bytes_of(const Memory& memory, std::size_t size) {
  return {static_cast<std::byte*>(memory.get()), size};
}

/// The buffer that HDF5 passes: malloc'ed memory, its size, and how much of it is used.
struct Chunk {
  void** buffer;
  std::size_t* buffer_bytes;
  std::size_t used_bytes;

  [[nodiscard]] ByteSpan bytes() const {
    return {static_cast<const std::byte*>(*buffer), used_bytes};
  }
  void replace(Memory memory, std::size_t size) {
    std::free(*buffer);
    *buffer = memory.release();
    *buffer_bytes = size;
  }
};

class Hdf5FileJudge final : public codecs::Judge {
 public:
  [[nodiscard]] Result<void> may_decode_unchecked() const override {
    return may_decode_unchecked_here();
  }
};
constinit const Hdf5FileJudge hdf5_file_judge;

/// Returns the size of the decoded chunk. If the frame is shorter than the chunk, zeros follow.
Result<std::size_t> decode_chunk(const FilterParameters& parameters, Chunk& chunk) {
  const codecs::FrameInfo info = MCR_TRY(codecs::read_frame_info(chunk.bytes()));
  const auto raw_bytes = static_cast<std::size_t>(info.raw_bytes);
  const std::size_t size = std::max<std::size_t>({raw_bytes, parameters.chunk_bytes, 1});
  // calloc gives the zeros after a short frame for free.
  Memory memory(raw_bytes == size ? std::malloc(size) : std::calloc(size, 1));
  if (memory == nullptr)
    return Error{Cause::system,
                 "not enough memory to decode a chunk of " + std::to_string(size) + " bytes"};
  const BorrowedScratch scratch;
  const MutableByteSpan raw = bytes_of(memory, raw_bytes);
  if (info.link) {
    MCR_TRY(decode_linked_chunk(parameters.container_uuid(), chunk.bytes(), *scratch, raw));
  } else {
    const codecs::JudgedBy judged(hdf5_file_judge);
    MCR_TRY(codecs::decode_frame(chunk.bytes(), *scratch, raw));
  }
  chunk.replace(std::move(memory), size);
  return size;
}

/// Returns the size of the frame. Called by h5repack and similar programs only: our own containers
/// are written with frames that are already encoded.
Result<std::size_t> encode_chunk(const FilterParameters& parameters, Chunk& chunk) {
  const std::size_t element_bytes =
      chunk.used_bytes % parameters.element_bytes == 0 ? parameters.element_bytes : 1;
  codecs::Layout layout;
  layout.bricks.push_back(codecs::Shape::flat(static_cast<std::uint32_t>(chunk.used_bytes)));
  if (chunk.used_bytes > codecs::max_frame_raw_bytes)
    return Error{Cause::usage, "the chunk is larger than a frame may be (2^30 bytes)"};
  const bool planes = element_bytes > 1 && element_bytes < 256;
  const codecs::Pipeline pipeline = MCR_TRY(codecs::Pipeline::parse(
      planes ? "transpose(" + std::to_string(element_bytes) + ")|zstd(3)" : "zstd(3)"));
  Bytes frame;
  const BorrowedScratch scratch;
  MCR_TRY(codecs::encode_frame(chunk.bytes(), layout, pipeline, *scratch, frame));
  Memory memory(std::malloc(frame.size()));
  if (memory == nullptr)
    return Error{Cause::system,
                 "not enough memory for a frame of " + std::to_string(frame.size()) + " bytes"};
  std::memcpy(memory.get(), frame.data(), frame.size());
  chunk.replace(std::move(memory), frame.size());
  return frame.size();
}

/// Prints the first reason for a failure to standard error, where HDF5 prints too. The filter can
/// report only that it failed, and the plugin links no HDF5 function to extend HDF5's error stack.
void explain(const Error& error) {
  static constinit std::atomic<bool> said{false};
  if (!said.exchange(true))
    std::fprintf(stderr, "mcr filter: %s\n", printable(error.message).c_str());
}

/// HDF5's interface: returns 0 on failure, with the buffer unchanged.
std::size_t filter(unsigned flags, std::size_t value_count, const unsigned values[],
                   std::size_t used_bytes, std::size_t* buffer_bytes, void** buffer) {
  try {
    const auto parameters = FilterParameters::from({values, value_count});
    if (!parameters) return 0;
    Chunk chunk{buffer, buffer_bytes, used_bytes};
    const bool decode = (flags & H5Z_FLAG_REVERSE) != 0;
    const auto size = decode ? decode_chunk(*parameters, chunk) : encode_chunk(*parameters, chunk);
    if (size) return *size;
    explain(size.error());
    return 0;
  } catch (...) {  // out of memory; no exception may reach HDF5's C functions
    return 0;
  }
}

constinit const H5Z_class2_t filter_class = {
    H5Z_CLASS_T_VERS, filter_id, 1, 1, filter_name, nullptr, nullptr, filter,
};

}  // namespace
}  // namespace mcr::restart

// The two functions that HDF5 looks up.
extern "C" {
[[gnu::visibility("default")]] H5PL_type_t H5PLget_plugin_type(void) { return H5PL_TYPE_FILTER; }
[[gnu::visibility("default")]] const void* H5PLget_plugin_info(void) {
  return &mcr::restart::filter_class;
}
}
