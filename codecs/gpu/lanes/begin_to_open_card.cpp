// SPDX-License-Identifier: BSD-3-Clause
// Starts a thread: the plugin does not link this file.
#include <exception>
#include <thread>

#include "codecs/gpu/device/driver_probe.hpp"
#include "codecs/gpu/lanes/open_card.hpp"

namespace mcr::codecs::gpu {
namespace {

/// Shorter than the 10 s after which open_card.cpp and the commands stop waiting, so that they tell this reason.
constexpr std::chrono::seconds probe_limit{9};

}  // namespace

void begin_to_open_card(const CardOptions& options) {
  if (!is_first_to_ask(options)) return;
  try {
    std::thread([options] {
      try {
        if (const auto probed = probe_driver(probe_limit); !probed)
          return decide_for_no_card(probed.error().message);
        open_card(DriverUse::own_process, options, &make_thread_runner);
      } catch (const std::exception& error) {  // out of memory
        decide_for_no_card(error.what());
      }
    }).detach();
  } catch (const std::exception&) {  // no thread, or no memory for it
    decide_for_no_card("no thread can be started that opens it");
  }
}

void await_card(std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (is_being_opened() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace mcr::codecs::gpu
