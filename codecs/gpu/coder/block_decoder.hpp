// SPDX-License-Identifier: BSD-3-Clause
// Decodes the entropy blocks of a frame (codecs/entropy) together. The host reads the heads and makes
// the tables, as for its own blocks; the accelerator decodes the streams.
#pragma once

#include "codecs/gpu/coder/stored_bytes.hpp"
#include "codecs/gpu/kernels/decode_kernels.hpp"

namespace mcr::codecs::gpu {

class BlockDecoder {
 public:
  explicit BlockDecoder(Device& device) : device_(device) {}

  /// Adds a block that is exactly `block`; its `count` symbols are written to `symbols`.
  /// Cause::damaged: the block cannot have so many symbols.
  Result<void> add(const StoredBytes& block, DeviceAddress symbols, std::size_t count);

  /// Decodes all blocks. Damaged streams make the number at `error` 1.
  Result<void> run(DeviceAddress error);

 private:
  /// Blocks of one mode.
  template <typename Table>
  struct Streams {
    std::vector<StoredSegment> segments;
    std::vector<Table> tables;
    std::vector<TansGroup> groups;
  };

  template <typename Table>
  Result<void> add_segments(const StoredBytes& stored, DeviceAddress symbols, std::size_t count,
                            const Table& table, Streams<Table>& streams);
  template <typename Table>
  Result<void> launch(KernelNumber kernel, const Streams<Table>& streams, DeviceAddress error);

  Device& device_;
  Streams<HuffmanTable> huffman_;
  Streams<StateTable> tans_;
};

}  // namespace mcr::codecs::gpu
