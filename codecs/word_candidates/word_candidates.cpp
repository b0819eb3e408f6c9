// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/word_candidates/word_candidates.hpp"

#include "codecs/word_candidates/codings.hpp"

namespace mcr::codecs::words {

template <typename T>
std::unique_ptr<Encoder<T>> new_encoder(Coding coding, Numbers numbers) {
  if (coding == Coding::strong) return new_strong_encoder<T>(numbers);
  return new_fast_encoder<T>(numbers);
}

template <typename T>
Result<std::unique_ptr<Decoder<T>>> new_decoder(ByteSpan stored, std::uint64_t word_count,
                                                Numbers numbers, Scratch& scratch) {
  Reader in(stored);
  const std::uint8_t coding = MCR_TRY(in.u8());
  const ByteSpan rest = MCR_TRY(in.bytes(in.remaining()));
  if (coding == static_cast<std::uint8_t>(Coding::fast)) {
    return new_fast_decoder<T>(rest, word_count, numbers, scratch);
  }
  if (coding == static_cast<std::uint8_t>(Coding::strong)) {
    return new_strong_decoder<T>(rest, numbers);
  }
  return Error{Cause::damaged, "words: the coding is unknown"};
}

template std::unique_ptr<Encoder<std::uint32_t>> new_encoder(Coding, Numbers);
template std::unique_ptr<Encoder<std::uint64_t>> new_encoder(Coding, Numbers);
template Result<std::unique_ptr<Decoder<std::uint32_t>>> new_decoder(ByteSpan, std::uint64_t,
                                                                     Numbers, Scratch&);
template Result<std::unique_ptr<Decoder<std::uint64_t>>> new_decoder(ByteSpan, std::uint64_t,
                                                                     Numbers, Scratch&);

}  // namespace mcr::codecs::words
