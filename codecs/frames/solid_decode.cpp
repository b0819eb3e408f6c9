// SPDX-License-Identifier: BSD-3-Clause
#include <zstd.h>

#include <bit>
#include <cstring>
#include <memory>
#include <tuple>

#include "codecs/base/byte_order.hpp"
#include "codecs/base/checksum.hpp"
#include "codecs/base/float_environment.hpp"
#include "codecs/frames/frame.hpp"
#include "codecs/frames/section_memory.hpp"
#include "codecs/frames/section_words.hpp"
#include "codecs/frames/solid_bytes.hpp"
#include "codecs/frames/solid_frame.hpp"
#include "codecs/frames/solid_report.hpp"

namespace mcr::codecs {
namespace {

using solid::Directory;
using solid::SectionEntry;
using solid::SectionKind;
using solid::SectionMemory;
using solid::SectionWords;

Error damaged(std::string message) {
  return {Cause::damaged, "solid frame: " + std::move(message)};
}

struct Frame {
  Directory directory;
  ByteSpan payloads;
  std::uint64_t raw_bytes = 0;
  std::uint64_t frame_bytes = 0;
};

Result<Bytes> unpack_directory(Reader& in) {
  const std::uint64_t bytes = MCR_TRY(in.varint_at_most(max_directory_bytes, "directory"));
  const std::uint64_t packed_bytes = MCR_TRY(in.varint_at_most(in.remaining(), "directory"));
  if (packed_bytes == 0) {
    const ByteSpan stored = MCR_TRY(in.bytes(bytes));
    return Bytes(stored.begin(), stored.end());
  }
  const ByteSpan packed = MCR_TRY(in.bytes(packed_bytes));
  Bytes directory(static_cast<std::size_t>(bytes));
  const std::size_t got =
      ZSTD_decompress(directory.data(), directory.size(), packed.data(), packed.size());
  if (ZSTD_isError(got) != 0 || got != directory.size()) return damaged("directory is damaged");
  return directory;
}

/// Reads header and directory, and finds the payloads. Checks the checksum before it uses any
/// number from them.
Result<Frame> read_frame(ByteSpan bytes, bool check) {
  Reader in(bytes);
  Frame frame;
  if (MCR_TRY(in.u8()) != solid::magic) return damaged("does not begin as a frame");
  const std::uint8_t version = MCR_TRY(in.u8());
  if (version == 0) return damaged("format version 0");
  if (version > frame_format_version) {
    return Error{Cause::unsupported,
                 "frame of format version " + std::to_string(version) + "; this mcr reads up to " +
                     std::to_string(frame_format_version) + ": use a newer one"};
  }
  if (MCR_TRY(in.u8()) != solid::kind) return damaged("is a frame of another kind");
  frame.raw_bytes = MCR_TRY(in.varint_at_most(max_frame_raw_bytes, "raw bytes"));
  const std::uint64_t body_bytes = MCR_TRY(in.varint_at_most(in.remaining(), "body"));
  const std::size_t covered = in.position() + static_cast<std::size_t>(body_bytes);
  const ByteSpan body = MCR_TRY(in.bytes(body_bytes));
  const std::uint64_t stored_checksum = MCR_TRY(in.u64());
  frame.frame_bytes = in.position();
  if (check && stored_checksum != checksum(bytes.first(covered))) {
    return damaged("stored bytes do not match their checksum");
  }
  Reader inside(body);
  const Bytes directory = MCR_TRY(unpack_directory(inside));
  frame.directory = MCR_TRY(solid::read_directory(directory));
  frame.payloads = MCR_TRY(inside.bytes(inside.remaining()));
  std::uint64_t payload_bytes = frame.directory.joined_bytes;
  std::uint64_t raw_bytes = 0;
  for (const SectionEntry& section : frame.directory.sections) {
    payload_bytes = MCR_TRY(checked_add(payload_bytes, section.payload_bytes));
    raw_bytes += section.layout.raw_bytes();
  }
  if (payload_bytes != frame.payloads.size()) return damaged("payloads have another size");
  if (raw_bytes != frame.raw_bytes) return damaged("sections have another size");
  return frame;
}

class Decoder {
 public:
  Decoder(const Frame& frame, Scratch& scratch) : frame_(frame), scratch_(scratch) {}

  /// Decodes the wanted sections; section n goes to memory[n].
  Result<void> run(const std::vector<bool>& wanted, std::vector<SectionMemory>& memory) {
    memory_ = &memory;
    const DefaultFloatEnvironment environment;
    auto at = static_cast<std::size_t>(frame_.directory.joined_bytes);
    for (const SectionEntry& section : frame_.directory.sections) {
      payload_at_.push_back(at);
      at += static_cast<std::size_t>(section.payload_bytes);
    }
    MCR_TRY(joined(wanted));
    for (const std::uint32_t number : frame_.directory.order) {
      if (!wanted[number]) continue;
      const SectionEntry& section = frame_.directory.sections[number];
      if (section.kind == SectionKind::plain) MCR_TRY(plain(number, section));
      if (section.kind != SectionKind::words) continue;
      if (section.layout.type.size == 8) {
        MCR_TRY(words<std::uint64_t>(number, section));
      } else {
        MCR_TRY(words<std::uint32_t>(number, section));
      }
    }
    return {};
  }

 private:
  MutableByteSpan bytes_of(std::uint32_t number) const {
    return {(*memory_)[number].data(),
            static_cast<std::size_t>(frame_.directory.sections[number].layout.raw_bytes())};
  }

  ByteSpan payload_of(std::uint32_t number) const {
    return frame_.payloads.subspan(
        payload_at_[number],
        static_cast<std::size_t>(frame_.directory.sections[number].payload_bytes));
  }

  Result<void> joined(const std::vector<bool>& wanted) {
    std::size_t total = 0;
    bool any = false;
    for (std::uint32_t n = 0; n < wanted.size(); ++n) {
      const SectionEntry& section = frame_.directory.sections[n];
      if (section.kind != SectionKind::joined) continue;
      total += static_cast<std::size_t>(section.layout.raw_bytes());
      any |= wanted[n];
    }
    if (!any) return {};
    const auto stream = scratch_.take<std::byte>(total);
    ZSTD_DCtx* context = scratch_.context<ZSTD_createDCtx, ZSTD_freeDCtx>();
    if (context == nullptr)
      return Error{Cause::system, "zstd: not enough memory for the library's context"};
    const std::size_t got =
        ZSTD_decompressDCtx(context, stream.data(), total, frame_.payloads.data(),
                            static_cast<std::size_t>(frame_.directory.joined_bytes));
    if (ZSTD_isError(got) != 0 || got != total) return damaged("the joined stream is damaged");
    std::size_t at = 0;
    for (const std::uint32_t n : frame_.directory.order) {
      const SectionEntry& section = frame_.directory.sections[n];
      if (section.kind != SectionKind::joined) continue;
      const auto size = static_cast<std::size_t>(section.layout.raw_bytes());
      if (wanted[n]) {
        if (size != 0) std::memcpy(bytes_of(n).data(), stream.data() + at, size);
        solid::turn(section.layout.type, std::endian::little, std::endian::native, bytes_of(n));
      }
      at += size;
    }
    return {};
  }

  Result<void> plain(std::uint32_t number, const SectionEntry& section) {
    Layout layout = section.layout;
    layout.type.big_endian = false;
    const auto decoded = run_decode(section.pipeline, payload_of(number), layout,
                                    section.coded_bytes, scratch_, bytes_of(number));
    // The layout is from the frame. So if a codec cannot take it, the frame is damaged, and it is
    // not a usage error.
    if (!decoded && decoded.error().cause == Cause::usage) return damaged(decoded.error().message);
    if (!decoded) return decoded.error();
    solid::turn(section.layout.type, std::endian::little, std::endian::native, bytes_of(number));
    return {};
  }

  template <typename T>
  Result<void> words(std::uint32_t number, const SectionEntry& section) {
    const auto numbers = section.layout.type.kind == ElementKind::floating
                             ? words::Numbers::floating
                             : words::Numbers::integer;
    const auto own = SectionWords<T>::of(section.layout, bytes_of(number).data());
    std::vector<SectionWords<T>> needs;
    for (const std::uint32_t need : section.needs) {
      needs.push_back(
          SectionWords<T>::of(frame_.directory.sections[need].layout, bytes_of(need).data()));
    }
    const auto decoder =
        MCR_TRY(words::new_decoder<T>(payload_of(number), own.words.size(), numbers, scratch_));
    auto& predictions = std::get<solid::BrickPredictions<T>>(predictions_);
    for (std::uint32_t brick = 0; brick < section.layout.bricks.size(); ++brick) {
      MCR_TRY(decoder->brick(own.brick(brick),
                             predictions.prepare(section, brick, needs, own, scratch_)));
    }
    return decoder->end();
  }

  const Frame& frame_;
  Scratch& scratch_;
  std::vector<SectionMemory>* memory_ = nullptr;
  std::vector<std::size_t> payload_at_;
  // Shared by all sections, because allocating this much memory costs more than filling it.
  std::tuple<solid::BrickPredictions<std::uint32_t>, solid::BrickPredictions<std::uint64_t>>
      predictions_;
};

/// Decodes the wanted sections; section n goes to `target[n]` if that is not null.
Result<void> decode_sections(const Frame& frame, const std::vector<bool>& wanted,
                             const std::vector<std::byte*>& target, Scratch& scratch) {
  const auto& sections = frame.directory.sections;
  std::vector<SectionMemory> memory(sections.size());
  for (std::size_t n = 0; n < sections.size(); ++n) {
    if (wanted[n]) memory[n].place(sections[n].layout, target[n]);
  }
  MCR_TRY(Decoder(frame, scratch).run(wanted, memory));
  for (std::size_t n = 0; n < sections.size(); ++n) {
    if (!wanted[n] || target[n] == nullptr) continue;
    const auto size = static_cast<std::size_t>(sections[n].layout.raw_bytes());
    if (memory[n].data() != target[n] && size != 0) {
      std::memcpy(target[n], memory[n].data(), size);
    }
    const MutableByteSpan raw(target[n], size);
    const ElementType& type = sections[n].layout.type;
    solid::turn(type, std::endian::native, type.big_endian ? std::endian::big : std::endian::little,
                raw);
    if (checksum(raw) != sections[n].raw_checksum) {
      return damaged("decoded bytes do not match their checksum");
    }
  }
  return {};
}

}  // namespace

bool is_solid_frame(ByteSpan frame) {
  return frame.size() > 2 && frame[0] == std::byte{solid::magic} &&
         frame[2] == std::byte{solid::kind};
}

Result<SolidInfo> read_solid_info(ByteSpan bytes) {
  Frame frame = MCR_TRY(read_frame(bytes, false));
  SolidInfo info;
  for (SectionEntry& section : frame.directory.sections) {
    info.sections.push_back(std::move(section.layout));
  }
  info.raw_bytes = frame.raw_bytes;
  info.frame_bytes = frame.frame_bytes;
  return info;
}

Result<std::vector<SectionReport>> describe_solid_frame(ByteSpan bytes,
                                                        const std::vector<std::string>& names) {
  return solid::describe(MCR_TRY(read_frame(bytes, true)).directory, names);
}

Result<void> decode_solid_frame(ByteSpan bytes, Scratch& scratch, MutableByteSpan raw) {
  const Frame frame = MCR_TRY(read_frame(bytes, true));
  if (raw.size() != frame.raw_bytes) {
    return damaged("holds " + std::to_string(frame.raw_bytes) + " bytes where " +
                   std::to_string(raw.size()) + " belong");
  }
  std::vector<std::byte*> target;
  std::size_t at = 0;
  for (const SectionEntry& section : frame.directory.sections) {
    target.push_back(raw.data() + at);
    at += static_cast<std::size_t>(section.layout.raw_bytes());
  }
  return decode_sections(frame, std::vector<bool>(target.size(), true), target, scratch);
}

Result<void> decode_solid_section(ByteSpan bytes, std::size_t section, Scratch& scratch,
                                  MutableByteSpan raw) {
  const Frame frame = MCR_TRY(read_frame(bytes, true));
  const auto& sections = frame.directory.sections;
  if (section >= sections.size()) return damaged("no such section");
  if (raw.size() != sections[section].layout.raw_bytes()) return damaged("section of another size");
  std::vector<bool> wanted(sections.size(), false);
  wanted[section] = true;
  // The sections that a section needs come before it in the order. So going backwards, each section
  // is marked before it is visited.
  for (std::size_t i = sections.size(); i-- > 0;) {
    const std::uint32_t number = frame.directory.order[i];
    if (!wanted[number]) continue;
    for (const std::uint32_t need : sections[number].needs) wanted[need] = true;
  }
  std::vector<std::byte*> target(sections.size(), nullptr);
  target[section] = raw.data();
  return decode_sections(frame, wanted, target, scratch);
}

}  // namespace mcr::codecs
