// SPDX-License-Identifier: BSD-3-Clause
// Writes made-up checkpoints: sets of rank files that differ from the samples with which the
// profiles were made. They show how well the choice of codecs works for data that was not used to
// tune it.
//
//   unseen_sets DIRECTORY [SCALE]     writes DIRECTORY/<set>/rank<n>.h5, the same on every machine
//
// SCALE multiplies the number of elements (default 1: about 50 MB in all).
#include <hdf5.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/unseen/rank_file.hpp"

namespace mcr::bench {
namespace {

constexpr unsigned ranks = 4;
/// Patches of odd shapes, smooth inside, with finer patches where the field changes fast.
void amr_patches(Part& part) {
  for (unsigned patch = 0; patch < part.count(24); ++patch) {
    const std::size_t nz = 4 + part.random.below(23);
    const std::size_t ny = 3 + part.random.below(31);
    const std::size_t nx = 5 + part.random.below(27);
    const double step = 0.02 / static_cast<double>(1U << (patch % 3));
    const std::string group = "patch" + std::to_string(10000 + 100 * part.rank + patch);
    const Extents extents{nz, ny, nx};
    for (unsigned v = 0; v < 4; ++v) {
      auto data = box_field<double>(part, nz, ny, nx, v + patch, step);
      for (double& value : data) value += 1e-9 * part.random.normal();
      part.file.write(group + "/field" + std::to_string(v), extents, data);
    }
  }
}

/// Simulation on a block-structured mesh: (blocks, z, y, x), as several well-known codes write it.
void block_mesh(Part& part) {
  const std::size_t blocks = part.count(20);
  const Extents extents{blocks, 8, 16, 16};
  for (const char* name : {"dens", "pres", "velx"}) {
    const auto number = static_cast<unsigned>(name[0]);
    part.file.write(name, extents, made<double>(blocks * 2048, [&](std::size_t i) {
                      const std::size_t b = i / 2048;
                      const double s = 0.005;
                      return 1.5 +
                             field(static_cast<double>(i % 16) * s + 0.1 * static_cast<double>(b),
                                   static_cast<double>(i / 16 % 16) * s,
                                   static_cast<double>(i / 256 % 8) * s, number);
                    }));
  }
  part.file.write("refine level", {blocks},
                  made<std::int32_t>(blocks, [](std::size_t i) { return 1 + i % 5; }));
}

/// Hexahedra and tetrahedra with corners, coordinates and materials.
void mesh(Part& part) {
  const std::size_t n = part.side(28);
  const std::size_t cells = n * n * n;
  std::vector<std::int64_t> hexahedra;
  for (std::size_t c = 0; c < cells; ++c) {
    const std::size_t corner = c / n / n * (n + 1) * (n + 1) + c / n % n * (n + 1) + c % n;
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}, n + 2, n + 1}) {
      hexahedra.push_back(static_cast<std::int64_t>(corner + k));
    }
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}, n + 2, n + 1}) {
      hexahedra.push_back(static_cast<std::int64_t>(corner + k + (n + 1) * (n + 1)));
    }
  }
  part.file.write("hexahedra", {cells, 8}, hexahedra);
  // Tetrahedra of a mesh generator: neighbours in memory are near in space, but in no order.
  const std::size_t tets = part.count(40000);
  std::vector<std::int32_t> corners;
  for (std::size_t t = 0; t < tets; ++t) {
    const auto near = static_cast<std::int32_t>(t / 6);
    for (int k = 0; k < 4; ++k) {
      corners.push_back(near + static_cast<std::int32_t>(part.random.below(k == 3 ? 2000 : 60)));
    }
  }
  part.file.write("tetrahedra", {tets, 4}, corners);
  const std::size_t nodes = (n + 1) * (n + 1) * (n + 1);
  std::vector<double> coordinates;
  for (std::size_t i = 0; i < nodes; ++i) {
    const double h = 1.0 / static_cast<double>(n);
    coordinates.push_back(h * (static_cast<double>(i % (n + 1)) + 0.2 * part.random.normal()));
    coordinates.push_back(h * static_cast<double>(i / (n + 1) % (n + 1)));
    coordinates.push_back(h * static_cast<double>(i / (n + 1) / (n + 1)) + part.rank);
  }
  part.file.write("coordinates", {nodes, 3}, coordinates);
  part.file.write("material", {cells}, made<std::int32_t>(cells, [&](std::size_t i) {
                    return i % n < n / 3 ? 1 : (i / n % n > n / 2 ? 7 : 3);
                  }));
  part.file.write("offsets", {tets + 1},
                  made<std::int64_t>(tets + 1, [](std::size_t i) { return 4 * i; }));
}

/// Particles in clusters, unsorted identities, single precision.
void cosmology_particles(Part& part) {
  const std::size_t n = part.count(60000);
  std::vector<float> position;
  std::vector<float> velocity;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t cluster = i * 40 / n;
    Random of_cluster(cluster + 100U * part.rank);
    const double width = 0.2 + 3 * of_cluster.uniform();
    for (int d = 0; d < 3; ++d) {
      position.push_back(
          static_cast<float>(50 * of_cluster.uniform() + width * part.random.normal() + 10));
      velocity.push_back(static_cast<float>(200 * of_cluster.normal() + 80 * part.random.normal()));
    }
  }
  part.file.write("PartType1/Coordinates", {n, 3}, position);
  part.file.write("PartType1/Velocities", {n, 3}, velocity);
  part.file.write("PartType1/ParticleIDs", {n}, made<std::uint64_t>(n, [&](std::size_t) {
                    return 1 + part.random.below(4 * n);
                  }));
  part.file.write("PartType1/Masses", {n},
                  made<float>(n, [](std::size_t) { return 0.0234375F * 3; }));
  part.file.write("PartType0/InternalEnergy", {n}, made<float>(n, [&](std::size_t) {
                    return 100 * decay(2 * part.random.normal() + 8) * 1e6;
                  }));
  part.file.write("PartType0/Sorted", {n}, made<std::int64_t>(n, [&](std::size_t i) {
                    return 10 * i + part.random.below(10) + 1000000 * part.rank;
                  }));
}

/// Plasma particles sorted by cell: positions rise slowly, momenta are thermal, few weights.
void plasma_particles(Part& part) {
  const std::size_t n = part.count(50000);
  const double cells = 64;
  part.file.write("electrons/x", {n}, made<double>(n, [&](std::size_t i) {
                    const double cell = static_cast<double>(i * 64 / n);
                    return (cell + part.random.uniform()) / cells;
                  }));
  for (const char* name : {"electrons/px", "electrons/py"}) {
    part.file.write(name, {n}, made<double>(n, [&](std::size_t) {
                      return 9.1e-31 * 3e6 * part.random.normal();
                    }));
  }
  part.file.write("electrons/weight", {n}, made<double>(n, [&](std::size_t i) {
                    const double weights[] = {1.25e10, 1.25e10, 7.3e9, 1e10 / 3};
                    return weights[(i / 7 + part.random.below(2)) % 4];
                  }));
  part.file.write("electrons/cell", {n},
                  made<std::int32_t>(n, [&](std::size_t i) { return i * 64 / n; }));
}

/// Land, sea and fill values: two-dimensional fields with NaN or 1e20 where there is no water.
void ocean(Part& part) {
  const std::size_t ny = part.side(300);
  const std::size_t nx = part.side(400);
  const auto is_land = [&](std::size_t i) {
    const double x = static_cast<double>(i % nx) / static_cast<double>(nx);
    const double y = static_cast<double>(i / nx) / static_cast<double>(ny);
    return wave(1.3 * x + 0.2 * part.rank) + wave(1.7 * y) > 0.6;
  };
  const auto value = [&](std::size_t i, unsigned v) {
    return 285 +
           12 * field(static_cast<double>(i % nx) * 0.004, static_cast<double>(i / nx) * 0.004, 0.3,
                      v + part.rank) +
           0.01 * part.random.normal();
  };
  part.file.write("temperature", {ny, nx}, made<float>(nx * ny, [&](std::size_t i) {
                    return is_land(i) ? std::nan("") : value(i, 1);
                  }));
  part.file.write("salinity", {ny, nx}, made<double>(nx * ny, [&](std::size_t i) {
                    return is_land(i) ? 1e20 : value(i, 2) / 8;
                  }));
  part.file.write("mask", {ny, nx},
                  made<signed char>(nx * ny, [&](std::size_t i) { return is_land(i) ? 0 : 1; }),
                  H5T_NATIVE_SCHAR);
  part.file.write("depth", {ny, nx},
                  made<short>(nx * ny,
                              [&](std::size_t i) {
                                return is_land(i)
                                           ? -32768
                                           : 4000 *
                                                 field(static_cast<double>(i % nx) * 0.01,
                                                       static_cast<double>(i / nx) * 0.01, 0, 4) /
                                                 5;
                              }),
                  H5T_NATIVE_SHORT);
}

/// A sparse matrix stored by rows, and a field that is zero nearly everywhere.
void sparse(Part& part) {
  const std::size_t rows = part.count(20000);
  std::vector<std::int64_t> row_begin{0};
  std::vector<std::int32_t> column;
  std::vector<double> value;
  for (std::size_t r = 0; r < rows; ++r) {
    std::uint64_t at = r > 300 ? r - 300 : 0;
    const std::size_t here = 3 + part.random.below(9);
    for (std::size_t k = 0; k < here; ++k) {
      at += 1 + part.random.below(90);
      column.push_back(static_cast<std::int32_t>(at));
      value.push_back(k == here / 2 ? 4.0 : -1 + 0.05 * part.random.normal());
    }
    row_begin.push_back(static_cast<std::int64_t>(column.size()));
  }
  part.file.write("matrix/row", {row_begin.size()}, row_begin);
  part.file.write("matrix/column", {column.size()}, column);
  part.file.write("matrix/value", {value.size()}, value);
  const std::size_t n = part.side(56);
  part.file.write("reaction", {n, n, n}, made<double>(n * n * n, [&](std::size_t i) {
                    const double d = static_cast<double>(i % n) - 0.5 * static_cast<double>(n);
                    return part.random.below(200) == 0 || d * d < 2 ? part.random.uniform() : 0;
                  }));
  part.file.write("source", {n, n, n}, made<float>(n * n * n, [&](std::size_t) {
                    return part.random.below(50) == 0 ? part.random.normal() : 0;
                  }));
}

/// Data of instruments and monitors: time steps, rounded values, counts.
void time_series(Part& part) {
  const std::size_t n = part.count(30000);
  part.file.write("time", {n},
                  made<double>(n, [](std::size_t i) { return 0.001 * static_cast<double>(i); }));
  part.file.write("steps", {n}, made<std::int64_t>(n, [](std::size_t i) { return 1000 + 5 * i; }));
  part.file.write("energy", {n}, made<double>(n, [&](std::size_t i) {
                    return -1.5e5 + 20 * wave(static_cast<double>(i) * 0.0003) +
                           0.01 * part.random.normal();
                  }));
  part.file.write("rounded", {n}, made<double>(n, [&](std::size_t) {
                    return static_cast<double>(std::lround(2000 + 40 * part.random.normal())) / 100;
                  }));
  std::vector<std::int32_t> counter;
  std::int32_t at = 0;
  for (std::size_t i = 0; i < n; ++i) {
    at += static_cast<std::int32_t>(part.random.below(30)) - 10;
    counter.push_back(at);
  }
  part.file.write("walk", {n}, counter);
  part.file.write("channels", {n, 6},
                  made<short>(6 * n,
                              [&](std::size_t i) {
                                return 800 * wave(static_cast<double>(i / 6) * 0.002 *
                                                  static_cast<double>(1 + i % 6)) +
                                       6 * part.random.normal();
                              }),
                  H5T_NATIVE_SHORT);
  part.file.write("single in double", {n}, made<double>(n, [&](std::size_t i) {
                    return static_cast<double>(static_cast<float>(
                        3 + wave(static_cast<double>(i) * 0.001) + 0.001 * part.random.normal()));
                  }));
}

/// Data of weather models and instruments: values that were rounded to decimals, unpacked from
/// small integers or cut to some bits of mantissa, and time stamps of a coarse clock in a fine
/// unit.
void climate(Part& part) {
  const std::size_t levels = part.count(10);
  const std::size_t ny = 72;
  const std::size_t nx = 144;
  const Extents extents{levels, ny, nx};
  const auto weather = [&](unsigned number, double scale, double noise) {
    auto values = box_field<double>(part, levels, ny, nx, number, 0.02);
    for (double& value : values) value = scale * value + noise * part.random.normal();
    return values;
  };
  const auto counts = [](const std::vector<double>& values, double step) {
    return made<double>(values.size(),
                        [&](std::size_t i) { return std::nearbyint(values[i] / step); });
  };
  const auto temperature = counts(weather(1, 15, 0.1), 0.01);
  const auto hundredths = [&](std::size_t i) { return (27500 + temperature[i]) / 100; };
  part.file.write("temperature", extents, made<float>(temperature.size(), hundredths));
  part.file.write("sea surface", extents, made<float>(temperature.size(), [&](std::size_t i) {
                    return field(static_cast<double>(i % nx) * 0.02,
                                 static_cast<double>(i / nx % ny) * 0.02, 0, 9) > 0.6
                               ? 1e20
                               : hundredths(i);
                  }));
  const auto wind = counts(weather(2, 8, 0.05), 0.001);
  part.file.write("wind", extents,
                  made<double>(wind.size(), [&](std::size_t i) { return wind[i] / 1000; }));
  const auto rain = counts(weather(3, 5, 0.3), 0.1);
  part.file.write("rain", extents, made<float>(rain.size(), [&](std::size_t i) {
                    return rain[i] > 30 ? (rain[i] - 30) / 10 : 0;
                  }));
  const auto humidity = weather(4, 1, 0.01);
  part.file.write("humidity", extents, made<float>(humidity.size(), [&](std::size_t i) {
                    const auto number = static_cast<float>(decay(4 + humidity[i]));
                    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(number) & 0xffffc000U);
                  }));
  const auto pressure = counts(weather(5, 900, 4), 0.13);
  part.file.write("unpacked", extents, made<double>(pressure.size(), [&](std::size_t i) {
                    return pressure[i] * 0.1312345678901 + 101325.4321;
                  }));
  const auto radiation = counts(weather(6, 80, 0.5), 0.0625);
  part.file.write("from a reference", extents, made<double>(radiation.size(), [&](std::size_t i) {
                    return static_cast<double>(241.38F) + radiation[i] * 0.0625;
                  }));
  const std::size_t n = part.count(60000);
  std::int64_t now = 638000000000000000 + 7;
  part.file.write("time", {n}, made<std::int64_t>(n, [&](std::size_t) {
                    return now += 100 * static_cast<std::int64_t>(960 + part.random.below(80));
                  }));
  part.file.write("voltage", {n}, made<double>(n, [&](std::size_t i) {
                    return std::nearbyint(2048 + 900 * wave(static_cast<double>(i) * 0.0007) +
                                          4 * part.random.normal()) *
                           (5.0 / 4096);
                  }));
  std::uint32_t at = 0;
  part.file.write("offsets", {n}, made<std::int32_t>(n, [&](std::size_t) {
                    return at += 24 * (1 + static_cast<std::uint32_t>(part.random.below(40)));
                  }));
  part.file.write("longitude", extents, made<double>(levels * ny * nx, [&](std::size_t i) {
                    return -180 + 0.0625 * static_cast<double>(part.rank) +
                           2.5 * static_cast<double>(i % nx);
                  }));
}

/// Converts `values` to binary16, rounding down.
std::vector<std::uint16_t> halves(const std::vector<float>& values) {
  std::vector<std::uint16_t> out;
  for (const float value : values) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto exponent = static_cast<int>((bits >> 23) & 0xff) - 112;
    std::uint32_t half = (bits >> 16) & 0x8000;
    if (exponent > 0 && exponent < 31) {
      half |= static_cast<std::uint32_t>(exponent) << 10 | ((bits >> 13) & 0x3ff);
    }
    out.push_back(static_cast<std::uint16_t>(half));
  }
  return out;
}

/// A network's weights: half and single precision, flags.
void weights(Part& part) {
  const hid_t half = H5Tcopy(H5T_IEEE_F32LE);
  H5Tset_fields(half, 15, 10, 5, 0, 10);
  H5Tset_size(half, 2);
  H5Tset_ebias(half, 15);
  const std::size_t n = part.count(200000);
  const auto normal = made<float>(n, [&](std::size_t) { return 0.03 * part.random.normal(); });
  part.file.write("layer0/weight16", {n / 100, 100}, halves(normal), half);
  const auto smooth =
      made<float>(n, [&](std::size_t i) { return wave(static_cast<double>(i) * 0.0007) + 2; });
  part.file.write("layer0/smooth16", {n}, halves(smooth), half);
  H5Tclose(half);
  part.file.write("layer0/weight32", {n / 100, 100}, normal);
  part.file.write("layer0/moment32", {n / 100, 100}, made<float>(n, [&](std::size_t) {
                    const double g = part.random.normal();
                    return 1e-6 * g * g;
                  }));
  part.file.write("layer0/sign", {n},
                  made<signed char>(n, [&](std::size_t i) { return normal[i] < 0 ? -1 : 1; }),
                  H5T_NATIVE_SCHAR);
  part.file.write("layer0/quantised", {n},
                  made<signed char>(n, [&](std::size_t i) { return 400 * normal[i]; }),
                  H5T_NATIVE_SCHAR);
}

struct Record {
  std::uint64_t id;
  float position[3];
  std::int32_t kind;
  double mass;
  std::int16_t level;
  char name[6];
};

/// Arrays of records with members of several sizes.
void records(Part& part) {
  const std::size_t n = part.count(30000);
  std::vector<Record> particles(n);
  for (std::size_t i = 0; i < n; ++i) {
    Record& r = particles[i];
    std::memset(&r, 0, sizeof r);
    r.id = 1000000ULL * part.rank + 3 * i + part.random.below(3);
    for (int d = 0; d < 3; ++d) {
      r.position[d] = static_cast<float>(wave(0.0001 * static_cast<double>(i) * (d + 1)) +
                                         0.01 * part.random.normal());
    }
    r.kind = static_cast<std::int32_t>(part.random.below(3));
    r.mass = 1.67e-27 * (1 + 0.1 * part.random.normal());
    r.level = static_cast<std::int16_t>(i / 900 % 7);
    std::snprintf(r.name, sizeof r.name, "p%03u", static_cast<unsigned>(i / 50 % 1000));
  }
  const hsize_t three = 3;
  const hid_t vector = H5Tarray_create2(H5T_NATIVE_FLOAT, 1, &three);
  const hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, 6);
  const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(Record));
  H5Tinsert(type, "id", offsetof(Record, id), H5T_NATIVE_UINT64);
  H5Tinsert(type, "position", offsetof(Record, position), vector);
  H5Tinsert(type, "kind", offsetof(Record, kind), H5T_NATIVE_INT32);
  H5Tinsert(type, "mass", offsetof(Record, mass), H5T_NATIVE_DOUBLE);
  H5Tinsert(type, "level", offsetof(Record, level), H5T_NATIVE_INT16);
  H5Tinsert(type, "name", offsetof(Record, name), text);
  part.file.write("particles", {n}, particles, type);
  const hid_t packed = H5Tcopy(type);
  H5Tpack(packed);
  part.file.write("particles packed", {n}, particles, type, packed);
  H5Tclose(packed);
  H5Tclose(type);
  H5Tclose(text);
  H5Tclose(vector);
  // Complex numbers {r, i}: a wave function on a mesh, and a noisy spectrum.
  const hid_t complex = H5Tcreate(H5T_COMPOUND, 16);
  H5Tinsert(complex, "r", 0, H5T_NATIVE_DOUBLE);
  H5Tinsert(complex, "i", 8, H5T_NATIVE_DOUBLE);
  const std::size_t side = part.side(32);
  const std::size_t cells = side * side * side;
  part.file.write("psi", {side, side, side},
                  made<double>(2 * cells,
                               [&](std::size_t i) {
                                 const std::size_t c = i / 2;
                                 const double phase = i % 2 == 0 ? 0 : 0.25;
                                 return field(static_cast<double>(c % side) * 0.01 + phase +
                                                  0.618034 * part.rank,
                                              static_cast<double>(c / side % side) * 0.01,
                                              static_cast<double>(c / side / side) * 0.01, 1);
                               }),
                  complex);
  part.file.write("spectrum", {cells},
                  made<double>(2 * cells,
                               [&](std::size_t i) {
                                 return part.random.normal() / static_cast<double>(1 + i / 64);
                               }),
                  complex);
  H5Tclose(complex);
  // Text of fixed length.
  const hid_t line = H5Tcopy(H5T_C_S1);
  H5Tset_size(line, 24);
  std::vector<char> lines(24 * n / 10);
  for (std::size_t i = 0; i < n / 10; ++i) {
    std::snprintf(&lines[24 * i], 24, "node-%04u/core-%02u", static_cast<unsigned>(i / 64),
                  static_cast<unsigned>(i % 64));
  }
  part.file.write("hosts", {n / 10}, lines, line);
  H5Tclose(line);
}

/// Big-endian numbers, as old codes and machines write them.
void big_endian(Part& part) {
  const std::size_t n = part.side(44);
  const Extents extents{n, n, n};
  part.file.write("pressure", extents, box_field<double>(part, n, n, n, 3, 0.01), H5T_NATIVE_DOUBLE,
                  H5T_IEEE_F64BE);
  part.file.write("density", extents, box_field<float>(part, n, n, n, 5, 0.01), H5T_NATIVE_FLOAT,
                  H5T_IEEE_F32BE);
  part.file.write("noise", extents,
                  made<double>(n * n * n, [&](std::size_t) { return part.random.normal(); }),
                  H5T_NATIVE_DOUBLE, H5T_IEEE_F64BE);
  part.file.write("index", {n * n}, made<std::int32_t>(n * n, [](std::size_t i) { return i * 2; }),
                  H5T_NATIVE_INT32, H5T_STD_I32BE);
}

/// Hundreds of datasets with one number each, and short arrays.
void tiny(Part& part) {
  for (unsigned i = 0; i < 120; ++i) {
    const std::string name = "state/scalar" + std::to_string(i);
    part.file.write(name, {}, std::vector<double>{0.1 * i + (i % 7 == 0 ? part.rank : 0)});
    part.file.write("state/extent" + std::to_string(i), {3},
                    std::vector<std::int32_t>{static_cast<std::int32_t>(i), 64, 128});
  }
  for (unsigned i = 0; i < 30; ++i) {
    part.file.write(
        "profile/mean" + std::to_string(i), {100}, made<double>(100, [&](std::size_t k) {
          return field(0.01 * static_cast<double>(k), 0, 0, i) + 0.001 * part.random.normal();
        }));
  }
}

/// Data that was compressed before, and so is noise to every compressor.
void compressed(Part& part) {
  const std::size_t n = part.count(300000);
  part.file.write("bytes", {n},
                  made<unsigned char>(n, [&](std::size_t) { return part.random.bits() >> 56; }),
                  H5T_NATIVE_UCHAR);
  part.file.write("keys", {n / 8},
                  made<std::uint64_t>(n / 8, [&](std::size_t) { return part.random.bits(); }));
}

/// Large smooth fields and turbulence in both precisions, stored flat and shaped.
void fields(Part& part) {
  const std::size_t nz = part.side(40);
  const std::size_t ny = part.side(50);
  const std::size_t nx = part.side(60);
  const Extents extents{nz, ny, nx};
  part.file.write("smooth64", extents, box_field<double>(part, nz, ny, nx, 1, 0.01));
  part.file.write("smooth32", extents, box_field<float>(part, nz, ny, nx, 2, 0.01));
  part.file.write("flat64", {nz * ny * nx}, box_field<double>(part, nz, ny, nx, 3, 0.01));
  part.file.write("noise32", extents,
                  made<float>(nz * ny * nx, [&](std::size_t) { return part.random.normal(); }));
  auto turbulent = box_field<float>(part, nz, ny, nx, 4, 0.05);
  for (float& value : turbulent) value += static_cast<float>(0.02 * part.random.normal());
  part.file.write("turbulent32", extents, turbulent);
  // Vectors in the last dimension, as many codes store velocity.
  part.file.write("velocity64", {nz, ny, nx, 3}, made<double>(3 * nz * ny * nx, [&](std::size_t i) {
                    const std::size_t c = i / 3;
                    return field(static_cast<double>(c % nx) * 0.01 + 0.618034 * part.rank,
                                 static_cast<double>(c / nx % ny) * 0.01,
                                 static_cast<double>(c / nx / ny) * 0.01,
                                 static_cast<unsigned>(i % 3)) +
                           1e-7 * part.random.normal();
                  }));
}

struct Set {
  const char* name;
  void (*make)(Part&);
};
constexpr Set sets[] = {
    {"amr_patches", amr_patches},
    {"big_endian", big_endian},
    {"block_mesh", block_mesh},
    {"compressed", compressed},
    {"cosmology", cosmology_particles},
    {"fields", fields},
    {"mesh", mesh},
    {"ocean", ocean},
    {"plasma", plasma_particles},
    {"records", records},
    {"sparse", sparse},
    {"time_series", time_series},
    {"tiny", tiny},
    {"weights", weights},
    // New sets are added at the end, so that the sets above keep their seeds.
    {"climate", climate},
    {"solver", solver},
};

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: unseen_sets DIRECTORY [SCALE]\n");
    return 1;
  }
  const double scale = argc > 2 ? std::strtod(argv[2], nullptr) : 1;
  unsigned seed = 1;
  for (const Set& set : sets) {
    const std::filesystem::path directory = std::filesystem::path(argv[1]) / set.name;
    std::filesystem::create_directories(directory);
    for (unsigned rank = 0; rank < ranks; ++rank) {
      RankFile file((directory / ("rank" + std::to_string(rank) + ".h5")).string());
      Part part{file, rank, scale, Random(seed++)};
      set.make(part);
    }
  }
  return 0;
}

}  // namespace
}  // namespace mcr::bench

int main(int argc, char** argv) { return mcr::bench::main(argc, argv); }
