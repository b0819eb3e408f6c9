// SPDX-License-Identifier: BSD-3-Clause
#include "vol/driver/memory_backend.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <new>

namespace mcr::vol {

namespace {

Error no_memory(std::uint64_t bytes) {
  return Error{Cause::system,
               "no memory for the " + std::to_string(bytes) +
                   " bytes of a file that the program opened with the core driver",
               ENOMEM};
}

// Returns an error, without an exception, if the size does not fit into memory.
Result<void> resize_bytes(Bytes& bytes, std::uint64_t size) {
  if (size > std::numeric_limits<std::ptrdiff_t>::max()) return no_memory(size);
  try {
    bytes.resize(static_cast<std::size_t>(size));
  } catch (const std::bad_alloc&) {
    return no_memory(size);
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<MemoryBackend>> MemoryBackend::load(std::unique_ptr<Backend> file,
                                                           const CoreSettings& core) {
  std::unique_ptr<MemoryBackend> backend(new MemoryBackend(std::move(file), core));
  MCR_TRY(resize_bytes(backend->bytes_, backend->file_->size()));
  MCR_TRY(backend->file_->read(0, backend->bytes_));
  return backend;
}

std::uint64_t MemoryBackend::rounded_up(std::uint64_t size) const {
  return (size + core_.increment - 1) / core_.increment * core_.increment;
}

Result<void> MemoryBackend::read(std::uint64_t offset, MutableByteSpan out) {
  const std::uint64_t end = std::min<std::uint64_t>(bytes_.size(), offset + out.size());
  const auto there = static_cast<std::size_t>(end > offset ? end - offset : 0);
  const auto from = ByteSpan(bytes_).subspan(there == 0 ? 0 : offset, there);
  std::copy(from.begin(), from.end(), out.begin());
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(there), out.end(), std::byte{0});
  return {};
}

Result<void> MemoryBackend::write(std::uint64_t offset, ByteSpan data) {
  const std::uint64_t end = offset + data.size();
  if (end > bytes_.size()) MCR_TRY(resize_bytes(bytes_, rounded_up(end)));
  std::copy(data.begin(), data.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
  if (core_.has_backing_store) written_.add(offset, end);
  return {};
}

Result<void> MemoryBackend::resize(std::uint64_t end_of_addresses, bool is_closing) {
  if (is_closing && !core_.has_backing_store) return {};
  MCR_TRY(resize_bytes(bytes_, is_closing ? end_of_addresses : rounded_up(end_of_addresses)));
  written_.cut(bytes_.size());
  return is_closing ? file_->truncate(end_of_addresses) : Result<void>();
}

Result<void> MemoryBackend::write_back() {
  for (const auto& range : written_.ranges()) {
    const std::uint64_t end = std::min<std::uint64_t>(range.end, bytes_.size());
    if (range.begin < end)
      MCR_TRY(file_->write(range.begin, ByteSpan(bytes_).subspan(range.begin, end - range.begin)));
  }
  written_ = {};
  return {};
}

Result<void> MemoryBackend::flush() {
  MCR_TRY(write_back());
  return core_.has_backing_store ? file_->flush() : Result<void>();
}

Result<void> MemoryBackend::close() {
  const auto written = write_back();
  const auto closed = file_->close();
  return written ? closed : written;
}

}  // namespace mcr::vol
