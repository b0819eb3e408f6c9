// SPDX-License-Identifier: BSD-3-Clause
// Measures pipelines on raw variables, without frames, choice or files: the ratio and speed of the
// kernels alone.
//
//   kernel_bench [-r REPEATS] [-v] DIRECTORY PIPELINE...
//
// DIRECTORY holds files that extract.py wrote. Every variable is cut into units of about 1 MiB of
// whole bricks; each unit is encoded, decoded and compared. Times are CPU time of one thread, the
// minimum of the repeats. The last lines give the size of the whole set under each pipeline, and
// with the best pipeline for each variable. If a pipeline cannot take a unit, the unit counts as
// stored unchanged.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "codecs/base/codec_pipeline.hpp"

namespace {

using namespace mcr;
using namespace mcr::codecs;

struct Unit {
  Layout layout;
  ByteSpan raw;
};

struct Variable {
  std::string name;
  Bytes raw;
  std::vector<Unit> units;
};

struct Figure {
  std::size_t bytes = 0;
  double encode_s = 0;
  double decode_s = 0;
};

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Shape parse_shape(const std::string& text) {
  std::vector<std::uint32_t> extents;
  std::stringstream words(text);
  for (std::string word; std::getline(words, word, 'x');) {
    extents.push_back(static_cast<std::uint32_t>(std::stoul(word)));
  }
  Shape shape;
  shape.rank = static_cast<std::uint8_t>(std::min(extents.size(), Shape::max_rank));
  for (std::size_t i = 0; i < shape.rank; ++i) shape.extent[i] = extents[i];
  return shape;
}

std::vector<Variable> read_set(const std::string& directory) {
  std::vector<Variable> variables;
  std::ifstream list(directory + "/list.txt");
  for (std::string line; std::getline(list, line);) {
    std::stringstream words(line);
    std::string name;
    std::string kind;
    std::string shapes;
    ElementType type;
    int big_endian = 0;
    words >> name >> kind >> type.size >> big_endian >> shapes;
    type.kind = kind == "f"   ? ElementKind::floating
                : kind == "i" ? ElementKind::signed_integer
                : kind == "u" ? ElementKind::unsigned_integer
                              : ElementKind::bytes;
    Variable variable;
    variable.name = name;
    std::ifstream file(directory + "/" + name, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    const ByteSpan span = as_bytes(bytes);
    variable.raw.assign(span.begin(), span.end());
    if (big_endian != 0) {
      for (std::size_t i = 0; i < variable.raw.size(); i += type.size) {
        const auto first = variable.raw.begin() + static_cast<std::ptrdiff_t>(i);
        std::reverse(first, first + static_cast<std::ptrdiff_t>(type.size));
      }
    }
    Layout unit{type, {}};
    std::vector<Layout> layouts;
    std::stringstream each(shapes);
    for (std::string shape; std::getline(each, shape, ';');) {
      unit.bricks.push_back(parse_shape(shape));
      if (unit.raw_bytes() >= (1U << 20)) {
        layouts.push_back(unit);
        unit.bricks.clear();
      }
    }
    if (!unit.bricks.empty()) layouts.push_back(unit);
    variables.push_back(std::move(variable));
    std::size_t begin = 0;
    for (const Layout& layout : layouts) {
      const auto size = static_cast<std::size_t>(layout.raw_bytes());
      variables.back().units.push_back(
          {layout, ByteSpan(variables.back().raw).subspan(begin, size)});
      begin += size;
    }
  }
  return variables;
}

Figure measure(const Pipeline& asked, const Unit& unit, int repeats, Scratch& scratch) {
  Figure figure{unit.raw.size(), 1e9, 1e9};
  Bytes back(unit.raw.size());
  for (int repeat = 0; repeat < repeats; ++repeat) {
    Bytes stored;
    stored.reserve(unit.raw.size() * 2 + 4096);
    std::vector<std::uint64_t> coded;
    Pipeline pipeline = asked;  // encoding replaces the parameters that depend on the data
    const double begin = cpu_seconds();
    const bool encoded =
        run_encode(pipeline, unit.raw, unit.layout, scratch, stored, coded).has_value();
    const double middle = cpu_seconds();
    figure.encode_s = std::min(figure.encode_s, middle - begin);
    if (!encoded || stored.size() > unit.raw.size()) {
      figure.decode_s = 0;
      return figure;
    }
    const auto decoded = run_decode(pipeline, stored, unit.layout, coded, scratch, back);
    figure.decode_s = std::min(figure.decode_s, cpu_seconds() - middle);
    if (!decoded || !std::equal(back.begin(), back.end(), unit.raw.begin())) {
      std::printf("WRONG: %s\n", pipeline.print().c_str());
      std::exit(1);
    }
    figure.bytes = stored.size();
    for (const std::uint64_t value : coded) figure.bytes += value > 127 ? 3 : 1;
    for (const Step& step : pipeline.steps) figure.bytes += 2 + step.parameters.size();
  }
  return figure;
}

void add(Figure& sum, const Figure& figure) {
  sum.bytes += figure.bytes;
  sum.encode_s += figure.encode_s;
  sum.decode_s += figure.decode_s;
}

void print(const std::string& what, std::size_t raw, const Figure& figure) {
  const auto mega = static_cast<double>(raw) / 1e6;
  std::printf("  %-52s %9zu %9.4f %7.0f %7.0f\n", what.c_str(), figure.bytes,
              static_cast<double>(raw) / static_cast<double>(figure.bytes),
              mega / std::max(figure.encode_s, 1e-9), mega / std::max(figure.decode_s, 1e-9));
}

}  // namespace

int main(int argc, char** argv) {
  int repeats = 5;
  bool verbose = false;
  std::string directory;
  std::vector<std::pair<std::string, Pipeline>> pipelines;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "-v") {
      verbose = true;
    } else if (word == "-r" && i + 1 < argc) {
      repeats = std::stoi(argv[++i]);
    } else if (directory.empty()) {
      directory = word;
    } else {
      auto pipeline = Pipeline::parse(word);
      if (!pipeline) {
        std::printf("%s\n", pipeline.error().message.c_str());
        return 2;
      }
      pipelines.emplace_back(word, *std::move(pipeline));
    }
  }
  if (pipelines.empty()) {
    std::printf("usage: kernel_bench [-r REPEATS] [-v] DIRECTORY PIPELINE...\n");
    return 2;
  }
  Scratch scratch;
  std::size_t raw = 0;
  Figure best_sum;
  std::vector<Figure> sums(pipelines.size());
  std::printf("  %-52s %9s %9s %7s %7s\n", "variable: best pipeline", "bytes", "ratio", "enc",
              "dec");
  for (const Variable& variable : read_set(directory)) {
    Figure best;
    std::size_t chosen = 0;
    for (std::size_t p = 0; p < pipelines.size(); ++p) {
      Figure sum;
      for (const Unit& unit : variable.units) {
        add(sum, measure(pipelines[p].second, unit, repeats, scratch));
      }
      if (verbose) print(variable.name + ": " + pipelines[p].first, variable.raw.size(), sum);
      add(sums[p], sum);
      if (p == 0 || sum.bytes < best.bytes) {
        best = sum;
        chosen = p;
      }
    }
    raw += variable.raw.size();
    add(best_sum, best);
    print(variable.name + ": " + pipelines[chosen].first, variable.raw.size(), best);
  }
  std::printf("whole set\n");
  for (std::size_t p = 0; p < pipelines.size(); ++p) print(pipelines[p].first, raw, sums[p]);
  print("best for each variable", raw, best_sum);
  return 0;
}
