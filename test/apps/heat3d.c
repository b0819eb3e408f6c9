// SPDX-License-Identifier: BSD-3-Clause
// Heat in a cube of several materials: dT/dt = div(k grad T) + q, explicit in time, finite volumes,
// fixed walls. The cube is cut into blocks, one per rank, that exchange one layer of cells in every
// step. The answer is the same to the last bit whether or not the run was interrupted.
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "checkpoints.h"

struct block {
  MPI_Comm comm;
  int neighbour[3][2];
  long first[3], cells[3];  // z, y, x; without the layer of the neighbours' cells
  long stride[3], stored;   // with it
  double* temperature;
  double* next;
  float* conductivity;
  int32_t* material;
  double* heat_flux;  // through the lower x face of each cell, for whoever looks at the checkpoint
};

static long at(const struct block* b, long z, long y, long x) {
  return (z + 1) * b->stride[0] + (y + 1) * b->stride[1] + x + 1;
}

static void* cells_of(const struct block* b, size_t size) {
  void* memory = calloc((size_t)b->stored, size);
  if (!memory) run_fail("not enough memory for a block of %ld cells", b->stored);
  return memory;
}

static void make_block(struct block* b, const struct run* run) {
  int grid[3] = {0, 0, 0}, open[3] = {0, 0, 0}, place[3];
  MPI_Dims_create(run->ranks, 3, grid);
  MPI_Cart_create(MPI_COMM_WORLD, 3, grid, open, 0, &b->comm);
  MPI_Cart_coords(b->comm, run->rank, 3, place);
  for (int d = 0; d < 3; ++d) {
    MPI_Cart_shift(b->comm, d, 1, &b->neighbour[d][0], &b->neighbour[d][1]);
    b->first[d] = run->size * place[d] / grid[d];
    b->cells[d] = run->size * (place[d] + 1) / grid[d] - b->first[d];
    if (b->cells[d] < 1) run_fail("--size %ld is too small for %d ranks", run->size, run->ranks);
  }
  b->stride[2] = 1;
  b->stride[1] = b->cells[2] + 2;
  b->stride[0] = b->stride[1] * (b->cells[1] + 2);
  b->stored = b->stride[0] * (b->cells[0] + 2);
  b->temperature = cells_of(b, sizeof(double));
  b->next = cells_of(b, sizeof(double));
  b->heat_flux = cells_of(b, sizeof(double));
  b->conductivity = cells_of(b, sizeof(float));
  b->material = cells_of(b, sizeof(int32_t));
}

// Layers of copper, stone and air with a hot ball in the middle; walls at 300 K.
static void fill_block(struct block* b, long size) {
  static const float conductivities[] = {0.16f, 0.03f, 0.004f};
  for (long z = -1; z <= b->cells[0]; ++z)
    for (long y = -1; y <= b->cells[1]; ++y)
      for (long x = -1; x <= b->cells[2]; ++x) {
        long gz = b->first[0] + z, gy = b->first[1] + y, gx = b->first[2] + x, i = at(b, z, y, x);
        b->material[i] = (int32_t)((gx * 5 / size + gy * 3 / size) % 3);
        b->conductivity[i] = conductivities[b->material[i] < 0 ? 0 : b->material[i]];
        double dz = 2.0 * (double)gz / (double)size - 1, dy = 2.0 * (double)gy / (double)size - 1,
               dx = 2.0 * (double)gx / (double)size - 1;
        b->temperature[i] = dx * dx + dy * dy + dz * dz < 0.2 ? 1500.0 : 300.0;
      }
  memcpy(b->next, b->temperature, (size_t)b->stored * sizeof(double));
}

static void exchange(struct block* b, double* field) {
  for (int d = 0; d < 3; ++d) {
    int whole[3], part[3], begin[3] = {0, 0, 0};
    for (int k = 0; k < 3; ++k) whole[k] = part[k] = (int)b->cells[k] + 2;
    part[d] = 1;
    MPI_Datatype face[4];  // own low, own high, neighbour's low, neighbour's high
    const int place[4] = {1, (int)b->cells[d], 0, (int)b->cells[d] + 1};
    for (int k = 0; k < 4; ++k) {
      begin[d] = place[k];
      MPI_Type_create_subarray(3, whole, part, begin, MPI_ORDER_C, MPI_DOUBLE, &face[k]);
      MPI_Type_commit(&face[k]);
    }
    MPI_Sendrecv(field, 1, face[0], b->neighbour[d][0], d, field, 1, face[3], b->neighbour[d][1], d,
                 b->comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(field, 1, face[1], b->neighbour[d][1], d, field, 1, face[2], b->neighbour[d][0], d,
                 b->comm, MPI_STATUS_IGNORE);
    for (int k = 0; k < 4; ++k) MPI_Type_free(&face[k]);
  }
}

static double flow(const struct block* b, long i, long j) {  // from cell j into cell i
  return 0.5 * ((double)b->conductivity[i] + (double)b->conductivity[j]) *
         (b->temperature[j] - b->temperature[i]);
}

static void advance(struct block* b, long step) {
  exchange(b, b->temperature);
  const double source = 0.2 * sin(0.05 * (double)step);
  for (long z = 0; z < b->cells[0]; ++z)
    for (long y = 0; y < b->cells[1]; ++y)
      for (long x = 0; x < b->cells[2]; ++x) {
        long i = at(b, z, y, x);
        double in_x = flow(b, i, i - 1);
        double change = in_x + flow(b, i, i + 1) + flow(b, i, i - b->stride[1]) +
                        flow(b, i, i + b->stride[1]) + flow(b, i, i - b->stride[0]) +
                        flow(b, i, i + b->stride[0]);
        b->heat_flux[i] = in_x;
        b->next[i] = b->temperature[i] + change + (b->material[i] == 1 ? source : 0.0);
      }
  double* old = b->temperature;
  b->temperature = b->next;
  b->next = old;
  // Walls outside the cube stay as they are in both arrays; the neighbours' layer comes by
  // exchange().
}

static double heat(const struct block* b) {
  double sum = 0;
  for (long z = 0; z < b->cells[0]; ++z)
    for (long y = 0; y < b->cells[1]; ++y)
      for (long x = 0; x < b->cells[2]; ++x) sum += b->temperature[at(b, z, y, x)];
  return sum;
}

// The block with its layer, as many codes do: a restart needs no exchange, and arrays are written
// as they lie.
static void write_checkpoint(struct block* b, struct run* run, long step, double time,
                             const double* history) {
  hid_t file = run_create(run, step);
  const hsize_t shape[3] = {(hsize_t)b->cells[0] + 2, (hsize_t)b->cells[1] + 2,
                            (hsize_t)b->cells[2] + 2},
                three = 3, steps = (hsize_t)step;
  write_number(file, "time", H5T_NATIVE_DOUBLE, &time);
  write_number(file, "rank", H5T_NATIVE_INT, &run->rank);
  hid_t mesh = must(H5Gcreate2(file, "mesh", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "mesh");
  write_array(run, mesh, "first", H5T_NATIVE_LONG, 1, &three, b->first);
  write_array(run, mesh, "material", H5T_NATIVE_INT32, 3, shape, b->material);
  write_array(run, mesh, "conductivity", H5T_NATIVE_FLOAT, 3, shape, b->conductivity);
  H5Gclose(mesh);
  hid_t fields = must(H5Gcreate2(file, "fields", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "fields");
  write_array(run, fields, "temperature", H5T_NATIVE_DOUBLE, 3, shape, b->temperature);
  write_array(run, fields, "heat_flux_x", H5T_NATIVE_DOUBLE, 3, shape, b->heat_flux);
  H5Gclose(fields);
  write_array(run, file, "history", H5T_NATIVE_DOUBLE, 1, &steps, history);
  run_commit(run, file, step);
}

static void read_checkpoint(struct block* b, hid_t file, double* time, double* history) {
  read_number(file, "time", H5T_NATIVE_DOUBLE, time);
  read_array(file, "mesh/material", H5T_NATIVE_INT32, b->material);
  read_array(file, "mesh/conductivity", H5T_NATIVE_FLOAT, b->conductivity);
  read_array(file, "fields/temperature", H5T_NATIVE_DOUBLE, b->temperature);
  read_array(file, "fields/heat_flux_x", H5T_NATIVE_DOUBLE, b->heat_flux);
  read_array(file, "history", H5T_NATIVE_DOUBLE, history);
  must(H5Fclose(file), "H5Fclose");
  memcpy(b->next, b->temperature, (size_t)b->stored * sizeof(double));
}

// Each rank reads its box, whatever the number of ranks that wrote the field. The exchange at the
// beginning of a step fills the layer. The history of the steps before stays 0: it has sums over
// the cells of one rank, and the ranks are others now.
static long read_whole_field(struct block* b, const struct run* run, double* time) {
  const hsize_t first[3] = {(hsize_t)b->first[0], (hsize_t)b->first[1], (hsize_t)b->first[2]},
                cells[3] = {(hsize_t)b->cells[0], (hsize_t)b->cells[1], (hsize_t)b->cells[2]},
                stored[3] = {cells[0] + 2, cells[1] + 2, cells[2] + 2}, inside[3] = {1, 1, 1};
  hsize_t whole[3] = {0, 0, 0};
  long step = 0;
  hid_t file = must(H5Fopen(run->start, H5F_ACC_RDONLY, H5P_DEFAULT), run->start);
  read_number(file, "time", H5T_NATIVE_DOUBLE, time);
  read_number(file, "step", H5T_NATIVE_LONG, &step);
  hid_t field = must(H5Dopen2(file, "fields/temperature", H5P_DEFAULT), "fields/temperature");
  hid_t box = must(H5Dget_space(field), "its shape"), memory = H5Screate_simple(3, stored, NULL);
  if (H5Sget_simple_extent_ndims(box) == 3) H5Sget_simple_extent_dims(box, whole, NULL);
  for (int d = 0; d < 3; ++d)
    if (whole[d] != (hsize_t)run->size)
      run_fail("%s has not the shape that --size %ld says", run->start, run->size);
  must(H5Sselect_hyperslab(box, H5S_SELECT_SET, first, NULL, cells, NULL), "the rank's box");
  must(H5Sselect_hyperslab(memory, H5S_SELECT_SET, inside, NULL, cells, NULL), "the inside");
  must(H5Dread(field, H5T_NATIVE_DOUBLE, memory, box, H5P_DEFAULT, b->temperature), "the field");
  H5Sclose(memory);
  H5Sclose(box);
  H5Dclose(field);
  must(H5Fclose(file), "H5Fclose");
  if (run->rank == 0) printf("start from step %ld\n", step);
  return step;
}

static uint64_t answer(const struct block* b, const struct run* run, double time,
                       const double* history) {
  uint64_t mine = mix(UINT64_C(0xcbf29ce484222325), &time, sizeof time);
  for (long z = 0; z < b->cells[0]; ++z)
    for (long y = 0; y < b->cells[1]; ++y)
      mine = mix(mine, &b->temperature[at(b, z, y, 0)], (size_t)b->cells[2] * sizeof(double));
  mine = mix(mine, history, (size_t)run->steps * sizeof(double));
  uint64_t* all = calloc((size_t)run->ranks, sizeof *all);
  MPI_Gather(&mine, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  uint64_t result = mix(0, all, (size_t)run->ranks * sizeof *all);
  free(all);
  return result;
}

int main(int count, char** words) {
  struct run run = {.size = 64};
  run_begin(&run, &count, &words, "heat in a cube of several materials",
            "cells along each edge of the cube (64)");
  struct block block;
  make_block(&block, &run);
  fill_block(&block, run.size);
  double time = 0;
  double* history = calloc((size_t)run.steps + 1, sizeof *history);
  long step = 0;
  if (run.start) step = read_whole_field(&block, &run, &time);
  if (run.restart) {
    hid_t file;
    const long newest = run_newest(&run, &file);
    if (newest) {
      step = newest;
      read_checkpoint(&block, file, &time, history);
    }
  }
  while (step < run.steps) {
    advance(&block, step);
    time += 0.01;
    history[step++] = heat(&block);
    if (run.sleep_ms)
      nanosleep(&(struct timespec){run.sleep_ms / 1000, run.sleep_ms % 1000 * 1000000}, NULL);
    if (step % run.every == 0) write_checkpoint(&block, &run, step, time, history);
  }
  run_end(&run, answer(&block, &run, time, history));
  return 0;
}
