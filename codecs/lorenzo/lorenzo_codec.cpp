// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/lorenzo/lorenzo_codec.hpp"

#include <algorithm>

#include "codecs/base/float_environment.hpp"
#include "codecs/base/parameter_text.hpp"
#include "codecs/lorenzo/brick_views.hpp"
#include "codecs/lorenzo/lorenzo.hpp"
#include "codecs/lorenzo/order_formula.hpp"
#include "codecs/lorenzo/predictor.hpp"
#include "codecs/ordered_int/ordered_int.hpp"

namespace mcr::codecs {
namespace {

/// The digits for predictors in text, one for each brick.
constexpr std::string_view digits =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-";

constexpr std::byte automatic{
    0x80};  // the predictors are chosen for each frame; this byte is never stored

/// Checks parameters: none, one predictor for all bricks, or one for each brick.
Result<void> check(const Layout& in, ByteSpan parameters) {
  if (in.type.kind == ElementKind::bytes) return Error{Cause::usage, "lorenzo: takes numbers only"};
  if (parameters.size() > 1 && parameters.size() != in.bricks.size()) {
    return Error{Cause::usage, "lorenzo: the numbers of predictors and of bricks differ"};
  }
  for (const std::byte byte : parameters) {
    const auto predictor = Predictor::from_byte(std::to_integer<std::uint8_t>(byte));
    if (!predictor) return Error{Cause::usage, "lorenzo: a parameter byte names no predictor"};
    if (predictor->floating && (in.type.kind != ElementKind::floating || in.type.size < 4)) {
      return Error{Cause::usage, "lorenzo: predicts only float and double in floating point"};
    }
  }
  return {};
}

LorenzoOrder order_of(const BrickView& view) {
  return {view.dimensions, view.order, view.floating};
}

/// The kernels' working memory: a row of zeros, and rows for orders above 1.
struct RowBytes {
  std::size_t zeros = 0;
  std::size_t rows = 0;
};

RowBytes row_bytes(const Layout& layout, ByteSpan parameters) {
  RowBytes needed;
  for_each_brick(layout, parameters, [&](const BrickView& view, std::size_t, std::size_t) {
    if (view.dimensions < 2) return;
    const std::size_t row = view.box.columns * layout.type.size;
    needed.zeros = std::max(needed.zeros, row);
    if (view.order > 1) {
      needed.rows = std::max(needed.rows, order_memory_rows(view.box.rows) * row);
    }
  });
  return needed;
}

class RowMemory {
 public:
  RowMemory(const Layout& layout, ByteSpan parameters, Scratch& scratch)
      : needed_(row_bytes(layout, parameters)),
        bytes_(scratch.take<std::byte>(needed_.zeros + needed_.rows)) {
    std::fill_n(bytes_.data(), needed_.zeros, std::byte{0});
  }
  [[nodiscard]] const std::byte* zeros() const { return bytes_.data(); }
  [[nodiscard]] std::byte* rows() const { return bytes_.data() + needed_.zeros; }

 private:
  RowBytes needed_;
  Scratch::Lease<std::byte> bytes_;
};

/// Decodes bricks of one dimension, in floating point with an order above 1, two at once.
class RowPairs {
 public:
  explicit RowPairs(std::size_t size) : size_(size) {}
  RowPairs(const RowPairs&) = delete;
  RowPairs& operator=(const RowPairs&) = delete;
  ~RowPairs() { decode_with({}); }

  /// The row is decoded at the latest when this object ends.
  void add(int order, const LorenzoRow& row) {
    if (waiting_.columns > 0 && order == order_) return decode_with(row);
    decode_with({});
    waiting_ = row;
    order_ = order;
  }

 private:
  void decode_with(const LorenzoRow& second) {
    if (waiting_.columns > 0) lorenzo_order_decode_two(size_, order_, waiting_, second);
    waiting_ = {};
  }

  std::size_t size_;
  int order_ = 0;
  LorenzoRow waiting_;
};

class LorenzoCodec final : public Codec {
 public:
  Result<Layout> output(const Layout& in, ByteSpan parameters) const override {
    MCR_TRY(check(in, parameters));
    Layout out = in;
    out.type.kind = ElementKind::unsigned_integer;
    return out;
  }
  bool changes_size() const override { return false; }
  Elements elements() const override { return Elements::numbers; }

  Result<void> encode(ByteSpan raw, const Layout& layout, ByteSpan parameters, Scratch& scratch,
                      Bytes& out) const override {
    MCR_TRY(check(layout, parameters));
    const std::size_t size = layout.type.size;
    const bool ordered = layout.type.kind == ElementKind::floating;
    const RowMemory memory(layout, parameters, scratch);
    const std::size_t begin = out.size();
    out.resize(begin + raw.size());
    const auto integers = scratch.take<std::byte>(ordered ? raw.size() : 0);
    const DefaultFloatEnvironment mode;
    for_each_brick(
        layout, parameters, [&](const BrickView& view, std::size_t offset, std::size_t bytes) {
          const std::byte* from = raw.data() + offset;
          std::byte* const to = out.data() + begin + offset;
          if (view.floating && view.order == 1) {
            lorenzo_floating_encode(size, view.dimensions, view.box, from, memory.zeros(), to);
            return;
          }
          if (ordered && !view.floating) {
            ordered_float_encode(size, from, bytes / size, integers.data() + offset);
            from = integers.data() + offset;
          }
          if (view.order > 1) {
            lorenzo_order_encode(size, order_of(view), view.box, from, memory.rows(), to);
          } else {
            lorenzo_integer_encode(size, view.dimensions, view.box, from, memory.zeros(), to);
          }
        });
    return {};
  }

  Result<void> decode(ByteSpan stored, const Layout& layout, ByteSpan parameters, Scratch& scratch,
                      MutableByteSpan raw) const override {
    MCR_TRY(check(layout, parameters));
    if (stored.size() != raw.size())
      return Error{Cause::damaged,
                   "lorenzo: the stored bytes have another size than the raw bytes"};
    const std::size_t size = layout.type.size;
    const bool ordered = layout.type.kind == ElementKind::floating;
    const RowMemory memory(layout, parameters, scratch);
    const DefaultFloatEnvironment mode;
    RowPairs pairs(size);  // decodes its last row at its end, which must come before that of `mode`
    for_each_brick(
        layout, parameters, [&](const BrickView& view, std::size_t offset, std::size_t bytes) {
          const std::byte* const from = stored.data() + offset;
          std::byte* const to = raw.data() + offset;
          if (view.order > 1 && view.dimensions == 1 && view.floating) {
            pairs.add(view.order, {from, bytes / size, to});
          } else if (view.order > 1) {
            lorenzo_order_decode(size, order_of(view), view.box, from, memory.rows(), to);
          } else if (view.floating) {
            lorenzo_floating_decode(size, view.dimensions, view.box, from, memory.zeros(), to);
          } else {
            lorenzo_integer_decode(size, view.dimensions, view.box, from, memory.zeros(), to);
          }
          if (ordered && !view.floating) ordered_float_decode(size, to, bytes / size, to);
        });
    return {};
  }

  bool wants_fit(ByteSpan parameters) const override {
    return parameters.size() == 1 && parameters[0] == automatic;
  }
  Result<Bytes> fit(ByteSpan raw, const Layout& layout, ByteSpan, Scratch&) const override {
    if (layout.type.kind == ElementKind::bytes) return check(layout, {}).error();
    return choose_predictors(layout, raw);
  }

  // Text: "auto", "1,float,order3" or "3,float,cube" for all bricks, or "each=" and a digit for
  // each.
  Result<Bytes> parse(std::string_view text) const override {
    if (text.empty()) return Bytes{};
    if (text == "auto") return Bytes{automatic};
    Bytes each;
    if (text.starts_with("each=")) {
      for (const char letter : text.substr(5)) {
        const std::size_t digit = digits.find(letter);
        if (digit == std::string_view::npos) return unknown(text);
        each.push_back(static_cast<std::byte>(digit));
      }
      return each;
    }
    Predictor predictor;
    while (!text.empty()) {
      const std::string_view word = next_word(text);
      if (word == "float") {
        predictor.floating = true;
      } else if (word == "integer") {
        predictor.floating = false;
      } else if (word == "cube") {
        predictor.cube = true;
      } else if (word.size() == 6 && word.starts_with("order") && word[5] >= '1' &&
                 word[5] <= '0' + highest_order) {
        predictor.order = static_cast<std::uint8_t>(word[5] - '0');
      } else if (word.size() == 1 && word[0] >= '0' && word[0] <= '3') {
        predictor.dimensions = static_cast<std::uint8_t>(word[0] - '0');
      } else {
        return unknown(word);
      }
    }
    if (!Predictor::from_byte(predictor.byte())) {
      return Error{Cause::usage,
                   "lorenzo: the order must be 1 to 4 for one dimension, 1 or 2 for two and three "
                   "dimensions"};
    }
    return Bytes{static_cast<std::byte>(predictor.byte())};
  }
  std::string print(ByteSpan parameters) const override {
    if (parameters.empty()) return "";
    if (wants_fit(parameters)) return "auto";
    if (parameters.size() > 1) {
      std::string text = "each=";
      for (const std::byte byte : parameters) text += digits[std::to_integer<unsigned>(byte) & 63];
      return text;
    }
    const auto predictor = Predictor::from_byte(std::to_integer<std::uint8_t>(parameters[0]));
    if (!predictor) return "?";
    std::string text = std::to_string(predictor->dimensions);
    text += predictor->floating ? ",float" : ",integer";
    if (predictor->order > 1) text += ",order" + std::to_string(predictor->order);
    return text + (predictor->cube ? ",cube" : "");
  }

 private:
  static Error unknown(std::string_view word) {
    return {
        Cause::usage,
        "lorenzo: '" + std::string(word) +
            "' is none of: auto, 0, 1, 2, 3, integer, float, order1 to order4, cube, each=DIGITS"};
  }
};

constinit const LorenzoCodec codec;

}  // namespace

const Codec& lorenzo_codec() { return codec; }

}  // namespace mcr::codecs
