// SPDX-License-Identifier: BSD-3-Clause
// The two codings of words. Each is implemented in its own file.
#pragma once

#include "codecs/word_candidates/word_candidates.hpp"

namespace mcr::codecs::words {

template <typename T>
std::unique_ptr<Encoder<T>> new_fast_encoder(Numbers numbers);
template <typename T>
Result<std::unique_ptr<Decoder<T>>> new_fast_decoder(ByteSpan stored, std::uint64_t word_count,
                                                     Numbers numbers, Scratch& scratch);

template <typename T>
std::unique_ptr<Encoder<T>> new_strong_encoder(Numbers numbers);
template <typename T>
Result<std::unique_ptr<Decoder<T>>> new_strong_decoder(ByteSpan stored, Numbers numbers);

}  // namespace mcr::codecs::words
