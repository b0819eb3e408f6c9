// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/choice/multiples_choice.hpp"

#include <algorithm>
#include <bit>

#include "codecs/base/byte_order.hpp"
#include "codecs/base/float_environment.hpp"
#include "codecs/frames/frame_plan.hpp"

namespace mcr::codecs {

std::optional<Contender> best_of_multiples(const std::optional<Multiples>& found,
                                           const Contender& other, const ProfileOptions& options,
                                           const Layout& layout, ByteSpan raw, Scratch& scratch,
                                           std::size_t& tried) {
  constexpr double transform_mb_s = 1500;
  constexpr std::size_t most = 3;
  constexpr double close = 1.2;
  const ElementType& type = layout.type;
  const bool reverse = type.big_endian != (std::endian::native == std::endian::big);
  if (!found) return std::nullopt;
  const Piece piece = middle_piece(layout, raw, largest_piece);
  Bytes numbers(piece.raw.begin(), piece.raw.end());
  if (reverse) reverse_elements(numbers, type.size, numbers);
  {
    const DefaultFloatEnvironment mode;
    multiples_encode(*found, type, numbers.data(), numbers.size() / type.size, numbers.data());
  }
  Piece steps{piece.layout, numbers};
  steps.layout.type = {ElementKind::signed_integer, type.size,
                       std::endian::native == std::endian::big};
  const Estimates estimates = estimate(steps.layout, steps.raw, points_of(steps.layout));
  std::vector<Contender> few = estimated(options, steps.layout, estimates);
  // Leaves out three kinds of coding: a table, because a table of the numbers themselves is as
  // small; `constant`, because data is not constant if a sample is; and, in fields, string
  // matchers, because they find no more in multiples than in the numbers, and are the slowest.
  const bool field = element_class(type) == ElementClass::floating;
  std::erase_if(few, [field](const Contender& contender) {
    return contender.model == Model::dictionary || contender.model == Model::constant ||
           (field && matches_strings(contender.model));
  });
  if (few.empty()) return std::nullopt;
  const double limit =
      close * std::min(price(few.front(), options, steps.layout.type), price(other, options, type));
  std::erase_if(few, [&](const Contender& contender) {
    return price(contender, options, steps.layout.type) > limit;
  });
  if (few.size() > most) few.resize(most);
  const auto transform = Pipeline::parse("multiples(auto)");
  if (few.empty() || !transform) return std::nullopt;
  try_all(few, options, steps, raw.size(), scratch);
  Contender multiples = std::move(few.front());
  multiples.made = multiples.pipeline();
  multiples.text = {};
  multiples.is_of_multiples = true;
  multiples.made.steps.insert(multiples.made.steps.begin(), transform->steps.front());
  multiples.encode_mb_s = 1 / (1 / transform_mb_s + 1 / multiples.encode_mb_s);
  tried += piece.raw.size();
  return multiples;
}

std::size_t try_against(Contender multiples, std::vector<Contender>& contenders,
                        const ProfileOptions& options, const Layout& layout, ByteSpan raw,
                        Scratch& scratch) {
  Contender other = contenders.front();
  const double share = price(multiples, options, layout.type) / price(other, options, layout.type);
  std::size_t tried = 0;
  if (share > clearly_less && share < 1 / clearly_less) {
    // A table of numbers is compared on a whole frame, because in less data the table itself is too
    // large.
    const bool table = other.model == Model::dictionary;
    const Piece piece = middle_piece(layout, raw, table ? usual_frame_bytes : largest_piece);
    try_on(other, piece, raw.size(), scratch);
    tried = piece.raw.size();
  }
  contenders = {std::move(other), std::move(multiples)};
  rank(contenders, options, layout.type);
  return tried;
}

}  // namespace mcr::codecs
