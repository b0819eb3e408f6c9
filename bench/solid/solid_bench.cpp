// SPDX-License-Identifier: BSD-3-Clause
// Compares solid frames, which code variables together, with plain frames of the same variables.
//
//   solid_bench [-v] [-p PROFILE] [-b FRAME_MIB] [-r REPEATS] FILE...
//
// The files are the parts of one set. Prints one line for plain frames and one for solid frames:
// raw and stored bytes, ratio, and MB/s to encode and decode by one thread's CPU time (best of the
// repeats). Decoded bytes are compared with the source.
#include <hdf5.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "codecs/choice/chooser.hpp"
#include "codecs/frames/frame.hpp"
#include "codecs/frames/solid_frame.hpp"
#include "codecs/solid/solid_encode.hpp"

namespace {

using mcr::Bytes;
using mcr::ByteSpan;
using mcr::Scratch;
namespace codecs = mcr::codecs;

struct Fragment {
  codecs::Shape shape;
  Bytes bytes;
};
struct Variable {
  std::string name;
  codecs::ElementType type;
  std::vector<std::vector<Fragment>> files;  // by file
};

double seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "solid_bench: %s\n", why.c_str());
  std::exit(1);
}

std::string masked(const char* path) {
  std::string out;
  for (const char* at = path; *at != 0; ++at) {
    if (std::isdigit(static_cast<unsigned char>(*at)) == 0) {
      out += *at;
    } else if (out.empty() || out.back() != '#') {
      out += '#';
    }
  }
  return out;
}

struct Set {
  std::vector<Variable> variables;
  std::map<std::string, std::size_t> by_name;
  std::size_t files = 0;
  std::size_t file = 0;
};

herr_t visit(hid_t object, const char* name, const H5O_info2_t* info, void* data) {
  if (info->type != H5O_TYPE_DATASET) return 0;
  Set& set = *static_cast<Set*>(data);
  const hid_t dataset = H5Dopen2(object, name, H5P_DEFAULT);
  const hid_t type = H5Dget_type(dataset);
  const hid_t space = H5Dget_space(dataset);
  const H5T_class_t kind = H5Tget_class(type);
  if (kind == H5T_FLOAT || kind == H5T_INTEGER) {
    const std::string key = masked(name);
    const auto [at, is_new] = set.by_name.try_emplace(key, set.variables.size());
    if (is_new) {
      Variable& variable = set.variables.emplace_back();
      variable.name = key;
      variable.type.kind = kind == H5T_FLOAT ? codecs::ElementKind::floating
                           : H5Tget_sign(type) == H5T_SGN_NONE
                               ? codecs::ElementKind::unsigned_integer
                               : codecs::ElementKind::signed_integer;
      variable.type.size = static_cast<std::uint32_t>(H5Tget_size(type));
      variable.type.big_endian = variable.type.size > 1 && H5Tget_order(type) == H5T_ORDER_BE;
      variable.files.resize(set.files);
    }
    Variable& variable = set.variables[at->second];
    Fragment& fragment = variable.files[set.file].emplace_back();
    hsize_t extent[H5S_MAX_RANK];
    const int rank = H5Sget_simple_extent_dims(space, extent, nullptr);
    fragment.shape =
        codecs::Shape::flat(static_cast<std::uint32_t>(H5Sget_simple_extent_npoints(space)));
    if (rank >= 1 && rank <= 4) {
      fragment.shape.rank = static_cast<std::uint8_t>(rank);
      for (int i = 0; i < rank; ++i) {
        fragment.shape.extent[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(extent[i]);
      }
    }
    fragment.bytes.resize(static_cast<std::size_t>(fragment.shape.count()) * variable.type.size);
    if (H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, fragment.bytes.data()) < 0) {
      fail(std::string("cannot read ") + name);
    }
  }
  H5Sclose(space);
  H5Tclose(type);
  H5Dclose(dataset);
  return 0;
}

struct Input {
  Bytes raw;
  std::vector<codecs::Section> sections;
};

/// Returns the sections of each solid frame: all variables of as many consecutive files as fit.
std::vector<Input> solid_inputs(const Set& set, std::uint64_t frame_bytes) {
  std::vector<Input> inputs;
  for (std::size_t first = 0; first < set.files;) {
    std::uint64_t bytes = 0;
    std::size_t last = first;
    for (; last < set.files; ++last) {
      std::uint64_t more = 0;
      for (const Variable& variable : set.variables) {
        for (const Fragment& fragment : variable.files[last]) more += fragment.bytes.size();
      }
      if (last != first && bytes + more > frame_bytes) break;
      bytes += more;
    }
    Input& input = inputs.emplace_back();
    for (const Variable& variable : set.variables) {
      codecs::Section section{variable.name, {variable.type, {}}};
      for (std::size_t file = first; file < last; ++file) {
        for (const Fragment& fragment : variable.files[file]) {
          section.layout.bricks.push_back(fragment.shape);
          input.raw.insert(input.raw.end(), fragment.bytes.begin(), fragment.bytes.end());
        }
      }
      if (!section.layout.bricks.empty()) input.sections.push_back(std::move(section));
    }
    first = last;
  }
  return inputs;
}

/// Returns each variable's bytes in frames of about 1 MiB, which consist of whole fragments.
std::vector<Input> plain_inputs(const Set& set) {
  std::vector<Input> inputs;
  for (const Variable& variable : set.variables) {
    Input* input = nullptr;
    for (const auto& file : variable.files) {
      for (const Fragment& fragment : file) {
        if (input == nullptr || input->raw.size() + fragment.bytes.size() > (1U << 20)) {
          input = &inputs.emplace_back();
          input->sections.push_back({variable.name, {variable.type, {}}});
        }
        input->sections[0].layout.bricks.push_back(fragment.shape);
        input->raw.insert(input->raw.end(), fragment.bytes.begin(), fragment.bytes.end());
      }
    }
  }
  return inputs;
}

struct Figures {
  double encode = 1e9;
  double decode = 1e9;
  std::size_t stored = 0;
};

void print(const char* what, std::size_t raw, const Figures& figures) {
  std::printf("%-7s raw %10zu stored %9zu ratio %8.3f encode %7.1f MB/s decode %7.1f MB/s\n", what,
              raw, figures.stored, static_cast<double>(raw) / static_cast<double>(figures.stored),
              static_cast<double>(raw) / figures.encode / 1e6,
              static_cast<double>(raw) / figures.decode / 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  bool verbose = false;
  int repeats = 3;
  std::uint64_t frame_bytes = codecs::solid_frame_bytes;
  codecs::ProfileOptions profile;
  int at = 1;
  for (; at < argc && argv[at][0] == '-'; ++at) {
    const std::string option = argv[at];
    if (option == "-v") {
      verbose = true;
    } else if (at + 1 < argc && option == "-p") {
      profile.profile = codecs::parse_profile(argv[++at]).value();
    } else if (at + 1 < argc && option == "-b") {
      frame_bytes = std::strtoull(argv[++at], nullptr, 10) << 20;
    } else if (at + 1 < argc && option == "-r") {
      repeats = std::atoi(argv[++at]);
    } else {
      fail("unknown option " + option);
    }
  }
  Set set;
  set.files = static_cast<std::size_t>(argc - at);
  for (; at < argc; ++at, ++set.file) {
    const hid_t file = H5Fopen(argv[at], H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) fail(std::string("cannot open ") + argv[at]);
    H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_INC, visit, &set, H5O_INFO_BASIC);
    H5Fclose(file);
  }

  Scratch scratch;
  std::size_t raw_bytes = 0;
  {
    Figures figures;
    const auto inputs = plain_inputs(set);
    for (int repeat = 0; repeat < repeats; ++repeat) {
      std::vector<Bytes> frames;
      std::string last;
      codecs::Choice choice;
      const double begin = seconds();
      for (const Input& input : inputs) {
        const codecs::Section& section = input.sections[0];
        if (section.name != last) {
          choice = codecs::choose(profile, section.layout, input.raw, scratch, section.name);
        }
        last = section.name;
        if (!codecs::encode_frame(input.raw, section.layout, choice.pipeline, scratch,
                                  frames.emplace_back())) {
          fail("cannot encode " + section.name);
        }
      }
      figures.encode = std::min(figures.encode, seconds() - begin);
      figures.stored = 0;
      raw_bytes = 0;
      double decode = 0;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        figures.stored += frames[i].size();
        raw_bytes += inputs[i].raw.size();
        Bytes raw(inputs[i].raw.size());
        const double start = seconds();
        if (!codecs::decode_frame(frames[i], scratch, raw)) fail("cannot decode");
        decode += seconds() - start;
        if (raw != inputs[i].raw) fail("decoded bytes differ");
        if (verbose && repeat == 0) {
          std::printf("  %-28s %9zu %8zu %7.2f  %s\n", inputs[i].sections[0].name.c_str(),
                      raw.size(), frames[i].size(),
                      static_cast<double>(raw.size()) / static_cast<double>(frames[i].size()),
                      codecs::read_frame_info(frames[i]).value().pipeline.print().c_str());
        }
      }
      figures.decode = std::min(figures.decode, decode);
    }
    print("plain", raw_bytes, figures);
  }
  Figures figures;
  const auto inputs = solid_inputs(set, frame_bytes);
  const codecs::SolidOptions options = codecs::solid_options(profile);
  for (int repeat = 0; repeat < repeats; ++repeat) {
    double encode = 0;
    double decode = 0;
    figures.stored = 0;
    for (const Input& input : inputs) {
      Bytes frame;
      std::vector<codecs::SectionReport> report;
      double begin = seconds();
      const auto encoded =
          codecs::encode_solid_frame(input.raw, input.sections, options, scratch, frame, &report);
      encode += seconds() - begin;
      if (!encoded) fail("cannot encode: " + encoded.error().message);
      figures.stored += frame.size();
      Bytes raw(input.raw.size());
      begin = seconds();
      const auto decoded = codecs::decode_solid_frame(frame, scratch, raw);
      decode += seconds() - begin;
      if (!decoded) fail("cannot decode: " + decoded.error().message);
      if (raw != input.raw) fail("decoded bytes differ");
      if (verbose && repeat == 0) {
        std::printf("solid frame of %zu sections, %zu bytes\n", input.sections.size(),
                    frame.size());
        for (const auto& row : report) {
          std::printf("  %-28s %9llu %8llu %7.2f  %s\n", row.name.c_str(),
                      static_cast<unsigned long long>(row.raw_bytes),
                      static_cast<unsigned long long>(row.stored_bytes),
                      static_cast<double>(row.raw_bytes) / static_cast<double>(row.stored_bytes),
                      row.coding.c_str());
        }
      }
    }
    figures.encode = std::min(figures.encode, encode);
    figures.decode = std::min(figures.decode, decode);
  }
  print("solid", raw_bytes, figures);
  return 0;
}
