// SPDX-License-Identifier: BSD-3-Clause
// Runs a fuzz target without libFuzzer, so that every compiler and every test run can. Takes good
// inputs and changes each in a few random places, from a seed. Writes an input that fails to a
// file, which libFuzzer's program of the same name takes too.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>

#include "test/fuzz/seeds.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using mcr::Bytes;
namespace fs = std::filesystem;

constexpr std::size_t longest = 1U << 16;

class Mutations {
 public:
  Mutations(std::vector<Bytes> seeds, std::uint64_t seed)
      : seeds_(std::move(seeds)), random_(seed) {}

  Bytes next() {
    Bytes bytes = seeds_[below(seeds_.size())];
    for (std::size_t changes = 1 + below(6); changes > 0; --changes) change(bytes);
    if (bytes.size() > longest) bytes.resize(longest);
    return bytes;
  }

 private:
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(random_() % end); }
  std::byte any_byte() { return static_cast<std::byte>(random_()); }

  void change(Bytes& bytes) {
    if (bytes.empty()) return bytes.push_back(any_byte());
    const std::size_t begin = below(bytes.size());
    const std::size_t count = 1 + below(std::min<std::size_t>(bytes.size() - begin, 64));
    const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto end = at + static_cast<std::ptrdiff_t>(count);
    switch (below(8)) {
      case 0:
        *at ^= static_cast<std::byte>(1U << below(8));
        break;
      case 1:
        *at = any_byte();
        break;
      case 2:
        put_number(bytes, begin);
        break;
      case 3:
        bytes.erase(at, end);
        break;
      case 4:
        bytes.insert(at, count, any_byte());
        break;
      case 5: {  // repeats a range of the bytes
        const Bytes again(at, end);
        bytes.insert(at, again.begin(), again.end());
        break;
      }
      case 6:
        bytes.resize(begin);
        break;
      default: {  // continues with bytes of another input
        const Bytes& other = seeds_[below(seeds_.size())];
        bytes.resize(begin);
        if (begin < other.size())
          bytes.insert(bytes.end(), other.begin() + static_cast<std::ptrdiff_t>(begin),
                       other.end());
      }
    }
  }

  /// One at which sizes and counts go wrong, in 1, 2, 4 or 8 bytes.
  void put_number(Bytes& bytes, std::size_t begin) {
    const std::uint64_t numbers[] = {0,
                                     1,
                                     0x7f,
                                     0x80,
                                     0xff,
                                     0x7fff,
                                     0xffff,
                                     0x7fffffff,
                                     0x80000000,
                                     0xffffffff,
                                     bytes.size(),
                                     ~std::uint64_t{0} >> 1,
                                     ~std::uint64_t{0}};
    const std::uint64_t number = numbers[below(std::size(numbers))];
    const std::size_t width = std::min(std::size_t{1} << below(4), bytes.size() - begin);
    for (std::size_t i = 0; i < width; ++i)
      bytes[begin + i] = static_cast<std::byte>(number >> (8 * i));
  }

  std::vector<Bytes> seeds_;
  std::mt19937_64 random_;
};

const Bytes* running = nullptr;
std::string name_of_finding;

void run(const Bytes& bytes) {
  running = &bytes;
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

void write_file(const fs::path& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

extern "C" void keep_finding(int signal) {
  if (running != nullptr) write_file(name_of_finding, *running);
  std::fprintf(stderr, "%s: signal %d; the input is there\n", name_of_finding.c_str(), signal);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

Bytes read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const mcr::ByteSpan bytes = mcr::as_bytes(std::string_view(text));
  return {bytes.begin(), bytes.end()};
}

int usage(const std::string& target) {
  std::fprintf(
      stderr, "usage: %s_mutations [--runs N] [--seed N] [--write DIR] [FILE or DIR of seeds]...\n",
      target.c_str());
  return 2;
}

}  // namespace

int main(int count, char** words) {
  const std::string name = fs::path(words[0]).filename();  // NAME_mutations
  const std::string target = name.substr(0, name.rfind('_'));
  std::uint64_t runs = 10'000;
  std::uint64_t seed = 1;
  std::vector<Bytes> seeds = mcr::fuzz::seeds_of(target);
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word.starts_with("--")) {
      if (++i == count) return usage(target);
      if (word == "--runs") {
        runs = std::strtoull(words[i], nullptr, 10);
      } else if (word == "--seed") {
        seed = std::strtoull(words[i], nullptr, 10);
      } else if (word == "--write") {
        fs::create_directories(words[i]);
        for (std::size_t n = 0; n < seeds.size(); ++n)
          write_file(fs::path(words[i]) / ("seed" + std::to_string(n)), seeds[n]);
      } else {
        return usage(target);
      }
    } else if (fs::is_directory(word)) {
      std::set<fs::path> files;  // in order: the same seed makes the same inputs everywhere
      for (const auto& entry : fs::directory_iterator(word)) files.insert(entry.path());
      for (const fs::path& file : files) seeds.push_back(read_file(file));
    } else {
      seeds.push_back(read_file(word));
    }
  }
  if (seeds.empty()) return usage(target);
  name_of_finding = "finding-" + target;
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGALRM})
    std::signal(signal, keep_finding);
  for (const Bytes& bytes : seeds) run(bytes);
  Mutations mutations(seeds, seed);
  for (std::uint64_t i = 0; i < runs; ++i) run(mutations.next());
  std::printf("%s: %zu seeds, %llu mutations, nothing found\n", target.c_str(), seeds.size(),
              static_cast<unsigned long long>(runs));
  return 0;
}
