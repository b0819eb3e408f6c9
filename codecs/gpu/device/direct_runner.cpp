// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/gpu/device/call_runner.hpp"

namespace mcr::codecs::gpu {
namespace {

class DirectRunner final : public CallRunner {
 public:
  bool run(const std::shared_ptr<CardStream>& stream,
           CardStream::Operation operation) noexcept override {
    stream->perform(operation);
    return true;
  }
};

}  // namespace

std::unique_ptr<CallRunner> make_direct_runner() { return std::make_unique<DirectRunner>(); }

}  // namespace mcr::codecs::gpu
