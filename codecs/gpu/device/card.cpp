// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/gpu/device/card.hpp"

#include <array>
#include <cstring>
#include <new>

#include "codecs/gpu/device/cuda_queue.hpp"

namespace mcr::codecs::gpu {
namespace {

Error unsupported(const Driver& driver, const std::string& what, DriverStatus status) {
  return {Cause::unsupported, what + ": " + status_text(driver, status)};
}

/// Returns an attribute, or 0 if the driver does not know it.
int attribute(const Driver& driver, int which, DriverDevice device) {
  int value = 0;
  return driver.DeviceGetAttribute(&value, which, device) == status_success ? value : 0;
}

Result<CardFacts> facts_of(const Driver& driver, int index) {
  DriverDevice device = 0;
  if (const auto status = driver.DeviceGet(&device, index); status != status_success)
    return unsupported(driver, "GPU " + std::to_string(index), status);
  CardFacts facts;
  facts.index = index;
  std::array<char, 128> name{};
  if (driver.DeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device) ==
      status_success)
    facts.name = name.data();
  facts.capability_major = attribute(driver, attribute_capability_major, device);
  facts.capability_minor = attribute(driver, attribute_capability_minor, device);
  facts.is_shared_by_mps = attribute(driver, attribute_mps_enabled, device) == 1;
  const int mode = attribute(driver, attribute_compute_mode, device);
  if (mode == compute_mode_prohibited) {
    facts.refusal = "its compute mode forbids every use";
  } else if (mode == compute_mode_exclusive_process && !facts.is_shared_by_mps) {
    // The card has one context at a time. If the leader had it, the program could not use the card.
    facts.refusal = "its compute mode (exclusive process) leaves it to one process, the program";
  }
  return facts;
}

bool is_in_use(const Driver& driver, int index) {
  DriverDevice device = 0;
  unsigned flags = 0;
  int active = 0;
  return driver.DeviceGet(&device, index) == status_success &&
         driver.DevicePrimaryCtxGetState(device, &flags, &active) == status_success && active != 0;
}

Result<CardFacts> choose_card(const Driver& driver, DriverUse use, std::optional<int> index) {
  const std::vector<CardFacts> cards = MCR_TRY(list_cards(driver));
  if (cards.empty()) return Error{Cause::unsupported, "NVIDIA's driver finds no GPU"};
  if (index && (*index < 0 || static_cast<std::size_t>(*index) >= cards.size())) {
    return Error{Cause::unsupported, "there is no GPU " + std::to_string(*index) +
                                         "; the last one is " + std::to_string(cards.size() - 1)};
  }
  std::string refusal;
  for (const CardFacts& card : cards) {
    if (index && card.index != *index) continue;
    std::string why = card.refusal;
    if (why.empty() && use == DriverUse::program_process && !is_in_use(driver, card.index))
      why = "the program does not use it";
    if (why.empty()) return card;
    if (refusal.empty()) refusal = "GPU " + std::to_string(card.index) + ": " + why;
  }
  return Error{Cause::unsupported, refusal};
}

Result<std::shared_ptr<const CardHandles>> load(const Driver& driver, int index,
                                                const KernelModule& kernels) {
  const std::string named = "GPU " + std::to_string(index) + ": ";
  const auto failed = [&](const char* what, DriverStatus status) {
    return unsupported(driver, named + what, status);
  };
  const auto handles = std::make_shared<CardHandles>();
  handles->driver = driver;
  DriverDevice device = 0;
  if (const auto status = driver.DeviceGet(&device, index); status != status_success)
    return failed("it cannot be chosen", status);
  if (const auto status = driver.DevicePrimaryCtxRetain(&handles->context, device);
      status != status_success)
    return failed("it gives no context", status);
  const ContextScope scope(driver, handles->context);
  if (scope.status() != status_success) return failed("its context cannot be used", scope.status());
  int highest = 0;
  if (driver.CtxGetStreamPriorityRange(&handles->lowest_priority, &highest) != status_success)
    handles->lowest_priority = 0;
  DriverModule module = nullptr;
  if (const auto status =
          driver.ModuleLoadDataEx(&module, kernels.text.data(), 0, nullptr, nullptr);
      status != status_success)
    return failed("the kernels cannot be loaded", status);
  for (const char* const name : kernels.names) {
    DriverFunction function = nullptr;
    if (const auto status = driver.ModuleGetFunction(&function, module, name);
        status != status_success)
      return failed((std::string("kernel ") + name).c_str(), status);
    handles->kernels.push_back(function);
  }
  return std::shared_ptr<const CardHandles>(handles);
}

}  // namespace

Result<std::vector<CardFacts>> list_cards(const Driver& driver) {
  int count = 0;
  if (const auto status = driver.DeviceGetCount(&count); status != status_success)
    return unsupported(driver, "GPUs cannot be counted", status);
  std::vector<CardFacts> cards;
  for (int index = 0; index < count; ++index) cards.push_back(MCR_TRY(facts_of(driver, index)));
  return cards;
}

Result<std::shared_ptr<Card>> Card::open(DriverUse use, std::optional<int> index,
                                         const KernelModule& kernels, MakeRunner make_runner) {
  if (kernels.text.empty())
    return Error{Cause::unsupported, "this build of mcr has no kernels for GPUs"};
  const Driver driver = MCR_TRY(load_driver(use));
  const std::shared_ptr<Card> card(new Card(MCR_TRY(choose_card(driver, use, index)), make_runner));
  card->handles_ = MCR_TRY(load(driver, card->facts_.index, kernels));
  return card;
}

Result<std::unique_ptr<Queue>> Card::make_queue(std::size_t memory_bytes) {
  return CudaQueue::make(*this, memory_bytes);
}

void Card::give_up(std::string_view why) noexcept {
  const std::lock_guard lock(mutex_);
  if (given_up_) return;
  given_up_ = true;
  try {
    why_given_up_ = "GPU " + std::to_string(facts_.index) + ": " + std::string(why);
  } catch (const std::bad_alloc&) {
    why_given_up_ = "no memory";  // short enough to need none
  }
}

std::string Card::why_given_up() const {
  const std::lock_guard lock(mutex_);
  return why_given_up_;
}

ContextScope::ContextScope(const Driver& driver, DriverContext context)
    : driver_(driver), status_(driver.CtxPushCurrent_v2(context)) {}

ContextScope::~ContextScope() {
  DriverContext context = nullptr;
  if (status_ == status_success) driver_.CtxPopCurrent_v2(&context);
}

}  // namespace mcr::codecs::gpu
