// SPDX-License-Identifier: BSD-3-Clause
#include <array>

#include "codecs/base/registry.hpp"
#include "codecs/class_coder/class_coder_codec.hpp"
#include "codecs/constant/constant_codec.hpp"
#include "codecs/delta/delta_codec.hpp"
#include "codecs/dictionary/dictionary_codec.hpp"
#include "codecs/entropy/entropy_codec.hpp"
#include "codecs/fpc/fpc_codec.hpp"
#include "codecs/fpzip/fpzip_codec.hpp"
#include "codecs/lorenzo/lorenzo_codec.hpp"
#include "codecs/lz4/lz4_codec.hpp"
#include "codecs/multiples/multiples_codec.hpp"
#include "codecs/ordered_int/ordered_int_codec.hpp"
#include "codecs/planes/planes_codec.hpp"
#include "codecs/records/records_codec.hpp"
#include "codecs/stencil/stencil_codec.hpp"
#include "codecs/structure_split/structure_split_codec.hpp"
#include "codecs/top_bits/top_bits_codec.hpp"
#include "codecs/transpose/transpose_codec.hpp"
#include "codecs/zigzag/zigzag_codec.hpp"
#include "codecs/zlib/zlib_codec.hpp"
#include "codecs/zstd/zstd_codec.hpp"

namespace mcr::codecs {
namespace {

constexpr std::uint8_t newest = 1;

constexpr std::array table{
    // id, name, codec, first and last format version
    CodecEntry{codec_id::zstd, "zstd", zstd_codec, 1, newest},
    CodecEntry{codec_id::zlib, "zlib", zlib_codec, 1, newest},
    CodecEntry{codec_id::lz4, "lz4", lz4_codec, 1, newest},
    CodecEntry{codec_id::fpzip, "fpzip", fpzip_codec, 1, newest},
    CodecEntry{codec_id::transpose, "transpose", transpose_codec, 1, newest},
    CodecEntry{codec_id::delta, "delta", delta_codec, 1, newest},
    CodecEntry{codec_id::zigzag, "zigzag", zigzag_codec, 1, newest},
    CodecEntry{codec_id::ordered_int, "ordered_int", ordered_int_codec, 1, newest},
    CodecEntry{codec_id::lorenzo, "lorenzo", lorenzo_codec, 1, newest},
    CodecEntry{codec_id::structure_split, "structure_split", structure_split_codec, 1, newest},
    CodecEntry{codec_id::constant, "constant", constant_codec, 1, newest},
    CodecEntry{codec_id::planes, "planes", planes_codec, 1, newest},
    CodecEntry{codec_id::top_bits, "top_bits", top_bits_codec, 1, newest},
    CodecEntry{codec_id::class_coder, "class_coder", class_coder_codec, 1, newest},
    CodecEntry{codec_id::stencil, "stencil", stencil_codec, 1, newest},
    CodecEntry{codec_id::fpc, "fpc", fpc_codec, 1, newest},
    CodecEntry{codec_id::entropy, "entropy", entropy_codec, 1, newest},
    CodecEntry{codec_id::records, "records", records_codec, 1, newest},
    CodecEntry{codec_id::dictionary, "dictionary", dictionary_codec, 1, newest},
    CodecEntry{codec_id::multiples, "multiples", multiples_codec, 1, newest},
};

}  // namespace

std::span<const CodecEntry> all_codecs() { return table; }

const CodecEntry* find_codec(CodecId id) {
  for (const CodecEntry& entry : table) {
    if (entry.id == id) return &entry;
  }
  return nullptr;
}

const CodecEntry* find_codec(std::string_view name) {
  for (const CodecEntry& entry : table) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace mcr::codecs
