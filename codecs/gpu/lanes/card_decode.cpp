// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/gpu/lanes/card_decode.hpp"

#include <atomic>
#include <chrono>
#include <cstring>

#include "codecs/frames/frame.hpp"
#include "codecs/gpu/coder/frame_coder.hpp"
#include "codecs/gpu/lanes/card_lanes.hpp"
#include "codecs/gpu/lanes/coding_speeds.hpp"

namespace mcr::codecs::gpu {
namespace {

/// Smaller frames are decoded by the CPU before the card would have begun.
constexpr std::size_t least_raw_bytes = std::size_t{256} << 10;
/// Starting the card takes the time in which the CPU decodes about this much.
constexpr std::uint64_t bytes_before_opening = std::uint64_t{256} << 20;

struct Decoding {
  Decoding(const CardOptions& card, DriverUse driver_use, unsigned wanted_lanes)
      : options(card), use(driver_use), lanes(card, wanted_lanes) {}
  const CardOptions options;
  const DriverUse use;
  CardLanes lanes;
  CodingSpeeds speeds;
  std::atomic<std::uint64_t> cpu_bytes{0};
  std::atomic<std::uint64_t> card_bytes{0};
};

/// Set once, never freed.
constinit std::atomic<Decoding*> decoding{nullptr};

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Decodes on the card. Returns false if the CPU has to do it. Sets `is_in_doubt` if the card found the frame
/// damaged: either the frame or the card is.
bool decode_by_card(Decoding& state, ByteSpan frame, Scratch& scratch, MutableByteSpan raw,
                    bool& is_in_doubt) {
  const auto info = read_frame_info(frame);
  if (!info || !can_decode(*info)) return false;
  CardLanes::Lane lane = state.lanes.take();
  if (!lane) return false;
  const std::string kind = kind_of(info->pipeline, info->layout);
  const Coder coder = state.speeds.next(kind);
  if (coder == Coder::cpu) return false;
  const Stopwatch card_time;
  if (const auto decoded = decode_frame(lane.queue(), frame, scratch, raw); !decoded) {
    const Cause cause = decoded.error().cause;
    is_in_doubt = cause == Cause::damaged;
    if (cause == Cause::full) lane.was_full();
    if (cause == Cause::usage || cause == Cause::unsupported) state.speeds.refuse(kind);
    return false;
  }
  if (!lane.is_new()) state.speeds.measured(kind, Coder::card, raw.size(), card_time.seconds());
  state.card_bytes += raw.size();
  if (coder == Coder::card) return true;
  // The checksum of the raw bytes has been compared, so that only the CPU's time is asked for.
  const auto again = scratch.take<std::byte>(raw.size());
  const Stopwatch cpu_time;
  if (codecs::decode_frame(frame, scratch, again.span()))
    state.speeds.measured(kind, Coder::cpu, raw.size(), cpu_time.seconds());
  return true;
}

}  // namespace

void decode_on_card(const CardOptions& options, DriverUse use, unsigned lanes) {
  if (!options.is_on || decoding != nullptr) return;
  auto* const made = new Decoding(options, use, lanes);
  Decoding* none = nullptr;
  if (!decoding.compare_exchange_strong(none, made)) delete made;
}

Result<void> decode_frame_where_faster(ByteSpan frame, Scratch& scratch, MutableByteSpan raw) {
  Decoding* const state = decoding;
  bool is_in_doubt = false;
  if (state != nullptr && raw.size() >= least_raw_bytes) {
    const bool is_worth_it =
        state->speeds.is_card_only() || state->cpu_bytes >= bytes_before_opening;
    if (state->use == DriverUse::program_process && is_worth_it)
      open_card_of_program(state->options);
    if (decode_by_card(*state, frame, scratch, raw, is_in_doubt)) return {};
    state->cpu_bytes += raw.size();
  }
  auto decoded = codecs::decode_frame(frame, scratch, raw);
  if (Card* const card = card_in_use(); decoded && is_in_doubt && card != nullptr)
    card->give_up("it decoded a frame to bytes that do not match their checksum");
  return decoded;
}

std::uint64_t card_decoded_bytes() {
  Decoding* const state = decoding;
  return state == nullptr ? 0 : state->card_bytes.load();
}

void free_decoding_memory() {
  if (Decoding* const state = decoding; state != nullptr) state->lanes.free_unused();
}

}  // namespace mcr::codecs::gpu
