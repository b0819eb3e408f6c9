// SPDX-License-Identifier: BSD-3-Clause
// Makes the files that mcr reads, with whatever their fields are to say: what a hostile neighbour
// would leave. Their checksums are right, so that only the rules of docs/design/trust-boundaries.md keep
// them from being obeyed.
//
//   forge stub FILE KEY=VALUE…       part launch sequence rank ranks node masked (several)
//                                    container_dir stage path
//   forge container FILE KEY=VALUE…  masked launch sequence ranks begun
//                                    file=PART:RANK:PATH:CONTENT (several)
//                                    native=RANK:PATH:DEVICE:INODE:SIZE (several)
//                                    repeated=COUNT (entries of one frame of 64 MiB)
//   forge decision FILE KEY=VALUE…   given newest (LAUNCH:SEQUENCE) kind=0|1
//   forge show STUB                  its fields, as the first form takes them
//   forge mark STUB file=FILE        appends the mark that FILE has taken the stub's place
//
// CONTENT: @NAME stands for the bytes of that file.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "codecs/base/checksum.hpp"
#include "codecs/frames/frame.hpp"
#include "restart/container/own_file.hpp"
#include "restart/format/index.hpp"
#include "restart/format/stub.hpp"
#include "restart/sets/decision.hpp"
#include "restart/stage/put_back_mark.hpp"
#include "restart/stage/stub_file.hpp"

namespace mcr::restart {
namespace {

using Words = std::multimap<std::string, std::string>;

[[noreturn]] void fail(const std::string& why) {
  std::cerr << "forge: " << why << "\n";
  std::exit(2);
}

Words words_of(int count, char** texts) {
  Words words;
  for (int i = 3; i < count; ++i) {
    const std::string text = texts[i];
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) fail(text + " is no KEY=VALUE");
    words.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return words;
}

std::string text_of(const Words& words, const std::string& key, const std::string& otherwise) {
  const auto found = words.find(key);
  return found == words.end() ? otherwise : found->second;
}

std::uint64_t number_of(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) fail(text + " is no number");
  return number;
}

std::uint64_t number_of(const Words& words, const std::string& key, std::uint64_t otherwise) {
  const auto found = words.find(key);
  return found == words.end() ? otherwise : number_of(found->second);
}

PartId part_of(const std::string& text) {
  const auto part = PartId::parse(text);
  if (!part) fail(text + " is no part's id");
  return *part;
}

/// The first `count` fields of a text, and the rest of it as the last one.
std::vector<std::string> fields_of(const std::string& text, std::size_t count) {
  std::vector<std::string> fields;
  std::size_t begin = 0;
  for (; fields.size() < count; begin = text.find(':', begin) + 1) {
    const std::size_t end = text.find(':', begin);
    if (end == std::string::npos) fail(text + " has too few fields");
    fields.push_back(text.substr(begin, end - begin));
  }
  fields.push_back(text.substr(begin));
  return fields;
}

Bytes content_of(const std::string& text) {
  std::string content = text;
  if (text.starts_with('@')) {
    std::ifstream in(text.substr(1), std::ios::binary);
    if (!in) fail("cannot read " + text.substr(1));
    content.assign(std::istreambuf_iterator<char>(in), {});
  }
  const ByteSpan bytes = as_bytes(content);
  return {bytes.begin(), bytes.end()};
}

Bytes stub_bytes(const Words& words) {
  Stub stub;
  stub.part = part_of(text_of(words, "part", "00112233445566778899aabbccddeeff"));
  stub.launch = text_of(words, "launch", "forged");
  stub.sequence = number_of(words, "sequence", 0);
  stub.rank = static_cast<std::uint32_t>(number_of(words, "rank", 0));
  stub.rank_count = static_cast<std::uint32_t>(number_of(words, "ranks", 1));
  stub.node = text_of(words, "node", "localhost");
  const auto [begin, end] = words.equal_range("masked");
  for (auto masked = begin; masked != end; ++masked) stub.masked_names.push_back(masked->second);
  stub.container_directory = text_of(words, "container_dir", "mcr");
  stub.launch_directory = text_of(words, "stage", "");
  stub.path = text_of(words, "path", "/nowhere/x.h5");
  return write_stub(stub);
}

/// One dataset, "skeletons", with a frame for each part: readable by our reader, not by HDF5.
Bytes container_bytes(const Words& words) {
  Bytes bytes(UserBlock::bytes);
  Index index;
  index.set.masked_name = text_of(words, "masked", "/nowhere/x{rank}.h5");
  index.set.launch = text_of(words, "launch", "forged");
  index.set.sequence = number_of(words, "sequence", 0);
  index.set.rank_count = static_cast<std::uint32_t>(number_of(words, "ranks", 1));
  index.set.begun_ns = index.set.created_ns = number_of(words, "begun", 1);
  Bytes skeletons;
  const auto [begin, end] = words.equal_range("file");
  for (auto file = begin; file != end; ++file) {
    const auto fields = fields_of(file->second, 3);
    const Bytes content = content_of(fields[3]);
    PartEntry part;
    part.part = part_of(fields[0]);
    part.rank = static_cast<std::uint32_t>(number_of(fields[1]));
    part.path = fields[2];
    part.size = content.size();
    part.mode = 0644;
    part.checksum = checksum(content);
    part.skeleton = {skeletons.size(), content.size(), SkeletonPlace::no_base};
    part.map = {{content.size(), MapEntry::skeleton, 0, 0, 0}};
    index.parts.push_back(part);
    Writer(skeletons).bytes(content);
  }
  const auto natives = words.equal_range("native");
  for (auto native = natives.first; native != natives.second; ++native) {
    const auto fields = fields_of(native->second, 4);
    index.set.natives.push_back({static_cast<std::uint32_t>(number_of(fields[0])), fields[1],
                                 number_of(fields[2]), number_of(fields[3]), number_of(fields[4])});
  }
  Scratch scratch;
  constexpr std::uint32_t chunk = 1U << 20;
  DatasetEntry entry{"skeletons",
                     DatasetKind::skeletons,
                     DatasetStorage::frames,
                     1,
                     chunk,
                     skeletons.size(),
                     0,
                     0};
  for (std::size_t at = 0; at < skeletons.size(); at += chunk, ++entry.frame_count) {
    const ByteSpan here =
        ByteSpan(skeletons).subspan(at, std::min<std::size_t>(chunk, skeletons.size() - at));
    const codecs::Layout layout{{}, {codecs::Shape::flat(static_cast<std::uint32_t>(here.size()))}};
    Bytes frame;
    if (!codecs::encode_frame(here, layout, *codecs::Pipeline::parse("zstd(3)"), scratch, frame))
      fail("cannot encode");
    index.frames.push_back({bytes.size(), static_cast<std::uint32_t>(frame.size()),
                            static_cast<std::uint32_t>(here.size()), checksum(frame)});
    Writer(bytes).bytes(frame);
  }
  index.datasets.push_back(entry);
  if (const auto count = number_of(words, "repeated", 0); count != 0) {
    const Bytes raw(64 * chunk);
    const auto bytes_of_raw = static_cast<std::uint32_t>(raw.size());
    Bytes frame;
    if (!codecs::encode_frame(raw, {{}, {codecs::Shape::flat(bytes_of_raw)}},
                              *codecs::Pipeline::parse("constant"), scratch, frame))
      fail("cannot encode");
    const FramePlace place{bytes.size(), static_cast<std::uint32_t>(frame.size()), bytes_of_raw,
                           checksum(frame)};
    Writer(bytes).bytes(frame);
    index.datasets.push_back({"x", DatasetKind::variable, DatasetStorage::frames, 1, bytes_of_raw,
                              count * raw.size(), index.frames.size(),
                              static_cast<std::uint32_t>(count)});
    index.frames.insert(index.frames.end(), count, place);
  }
  const IndexBytes written = write_index(index);
  const Bytes head = write_user_block(user_block_of(written, bytes.size()));
  Writer(bytes).bytes(written.bytes);
  std::copy(head.begin(), head.end(), bytes.begin());
  return bytes;
}

GenerationName generation_of(const std::string& text) {
  const auto fields = fields_of(text, 1);
  return {fields[0], number_of(fields[1])};
}

Bytes decision_bytes(const Words& words) {
  Decision decision;
  decision.as_it_is = number_of(words, "kind", 1) == 0;
  decision.given = generation_of(text_of(words, "given", "forged:0"));
  decision.newest = generation_of(text_of(words, "newest", "forged:0"));
  return write_decision(decision);
}

int show(const std::string& name) {
  const auto file = File::open(AT_FDCWD, name, O_RDONLY | O_NOFOLLOW);
  const auto stub = file ? read_stub_file(*file) : Result<Stub>(file.error());
  if (!stub) fail(name + ": " + stub.error().message);
  std::cout << "part=" << stub->part.text() << "\nlaunch=" << stub->launch
            << "\nsequence=" << stub->sequence << "\nrank=" << stub->rank
            << "\nranks=" << stub->rank_count << "\nnode=" << stub->node
            << "\ncontainer_dir=" << stub->container_directory
            << "\nstage=" << stub->launch_directory << "\npath=" << stub->path << "\n";
  for (const std::string& masked : stub->masked_names) std::cout << "masked=" << masked << "\n";
  return 0;
}

int mark(const std::string& path, const std::string& native) {
  struct stat status {};
  const auto stub = File::open(AT_FDCWD, path, O_RDWR);
  const auto content = stub ? read_stub_file(*stub) : Result<Stub>(stub.error());
  if (!content || ::stat(native.c_str(), &status) != 0) fail("no stub, or no file");
  return mark_put_back(*stub, content->part, FileIdentity(status)) ? 0 : 2;
}

int run(int count, char** texts) {
  if (count < 3) fail("stub|container|decision|mark|show FILE KEY=VALUE…");
  const std::string kind = texts[1];
  if (kind == "show") return show(texts[2]);
  const Words words = words_of(count, texts);
  if (kind == "mark") return mark(texts[2], text_of(words, "file", ""));
  Bytes bytes;
  if (kind == "stub") {
    bytes = stub_bytes(words);
  } else if (kind == "container") {
    bytes = container_bytes(words);
  } else if (kind == "decision") {
    bytes = decision_bytes(words);
  } else {
    fail(kind + " is none of stub, container, decision, show");
  }
  std::ofstream out(texts[2], std::ios::binary | std::ios::trunc);
  out.write(as_text(bytes).data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) fail(std::string("cannot write ") + texts[2]);
  if (kind == "container") {
    const auto file = File::open(AT_FDCWD, texts[2], O_RDWR);
    if (!file || !mark_own_file(*file, 0)) fail(std::string("cannot mark ") + texts[2]);
  }
  return 0;
}

}  // namespace
}  // namespace mcr::restart

int main(int count, char** texts) { return mcr::restart::run(count, texts); }
