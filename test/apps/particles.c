// SPDX-License-Identifier: BSD-3-Clause
// Particles in a periodic box that oscillate about moving centres and wander between the ranks'
// slabs: counts differ by rank and from step to step. Checkpoints hold integers, floats, doubles, a
// compound type with an enumeration and a string, and attributes. The answer does not depend on
// which rank holds a particle, nor on interruptions.
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "checkpoints.h"

enum kind { gas, dust, star };

struct particle {
  int64_t id;
  int32_t species;
  float velocity[3];
  double position[3];
};

// One in ten particles carries a label: the compound type of the checkpoint.
struct label {
  int64_t id;
  double mass;
  float charge[2];
  int8_t kind;
  char name[11];
};

struct swarm {
  struct particle* all;
  long count, room;
};

static void reserve(struct swarm* s, long room) {
  if (room <= s->room) return;
  s->room = room + room / 2 + 16;
  s->all = realloc(s->all, (size_t)s->room * sizeof *s->all);
  if (!s->all) run_fail("not enough memory for %ld particles", s->room);
}

static uint64_t scramble(uint64_t x) {  // every particle's own, reproducible randomness
  x += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}
static double unit(uint64_t x) { return (double)(scramble(x) >> 11) * 0x1p-53; }

static int owner(const struct run* run, double x) {
  int slab = (int)(x * run->ranks);
  return slab < run->ranks ? slab : run->ranks - 1;
}

static void fill(struct swarm* s, const struct run* run) {
  for (int64_t id = 0; id < run->size; ++id) {
    uint64_t seed = (uint64_t)id * 16;
    // Denser at small x, so that the ranks' counts differ from the start.
    struct particle p = {.id = id, .species = (int32_t)(scramble(seed) % 7)};
    p.position[0] = pow(unit(seed + 1), 1.5);
    for (int d = 1; d < 3; ++d) p.position[d] = unit(seed + 1 + (uint64_t)d);
    for (int d = 0; d < 3; ++d) p.velocity[d] = (float)(unit(seed + 4 + (uint64_t)d) - 0.5);
    if (owner(run, p.position[0]) != run->rank) continue;
    reserve(s, s->count + 1);
    s->all[s->count++] = p;
  }
}

static void move(struct swarm* s, long step) {
  const double dt = 0.01, centre = 0.5 + 0.25 * sin(0.1 * (double)step);
  for (long i = 0; i < s->count; ++i) {
    struct particle* p = &s->all[i];
    for (int d = 0; d < 3; ++d) {
      double kick = 1e-3 * (unit((uint64_t)p->id * 131 + (uint64_t)step * 7 + (uint64_t)d) - 0.5);
      p->velocity[d] += (float)(dt * (1 + p->species) * (centre - p->position[d]) + kick);
      p->position[d] += dt * (double)p->velocity[d];
      p->position[d] -= floor(p->position[d]);
    }
  }
}

// Particles that left their slab go to its owner; what stays keeps its order, what comes is added
// by sender.
static void migrate(struct swarm* s, const struct run* run) {
  int* send = calloc((size_t)run->ranks * 4, sizeof(int));
  int *receive = send + run->ranks, *send_at = receive + run->ranks,
      *receive_at = send_at + run->ranks;
  const int size = (int)sizeof(struct particle);
  for (long i = 0; i < s->count; ++i) send[owner(run, s->all[i].position[0])] += size;
  send[run->rank] = 0;
  MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, MPI_COMM_WORLD);
  int leaving = 0, coming = 0;
  for (int r = 0; r < run->ranks; ++r) {
    send_at[r] = leaving;
    receive_at[r] = coming;
    leaving += send[r];
    coming += receive[r];
  }
  struct particle* out = malloc((size_t)leaving + 1);
  int* fill_at = malloc((size_t)run->ranks * sizeof(int));
  memcpy(fill_at, send_at, (size_t)run->ranks * sizeof(int));
  long kept = 0;
  for (long i = 0; i < s->count; ++i) {
    int to = owner(run, s->all[i].position[0]);
    if (to == run->rank) {
      s->all[kept++] = s->all[i];
    } else {
      memcpy((char*)out + fill_at[to], &s->all[i], sizeof(struct particle));
      fill_at[to] += size;
    }
  }
  s->count = kept;
  reserve(s, kept + coming / size);
  MPI_Alltoallv(out, send, send_at, MPI_BYTE, s->all + kept, receive, receive_at, MPI_BYTE,
                MPI_COMM_WORLD);
  s->count += coming / size;
  free(fill_at);
  free(out);
  free(send);
}

static hid_t label_type(void) {
  hid_t type = must(H5Tcreate(H5T_COMPOUND, sizeof(struct label)), "label type");
  hid_t kinds = must(H5Tenum_create(H5T_NATIVE_INT8), "kinds");
  static const char* const names[] = {"gas", "dust", "star"};
  for (int8_t k = gas; k <= star; ++k) must(H5Tenum_insert(kinds, names[k], &k), "kinds");
  hid_t text = must(H5Tcopy(H5T_C_S1), "text");
  must(H5Tset_size(text, sizeof((struct label*)0)->name), "text");
  hid_t pair = must(H5Tarray_create2(H5T_NATIVE_FLOAT, 1, (const hsize_t[]){2}), "pair");
  must(H5Tinsert(type, "id", HOFFSET(struct label, id), H5T_NATIVE_INT64), "id");
  must(H5Tinsert(type, "mass", HOFFSET(struct label, mass), H5T_NATIVE_DOUBLE), "mass");
  must(H5Tinsert(type, "charge", HOFFSET(struct label, charge), pair), "charge");
  must(H5Tinsert(type, "kind", HOFFSET(struct label, kind), kinds), "kind");
  must(H5Tinsert(type, "name", HOFFSET(struct label, name), text), "name");
  H5Tclose(pair);
  H5Tclose(text);
  H5Tclose(kinds);
  return type;
}

static void write_checkpoint(const struct swarm* s, struct run* run, long step) {
  const size_t n = (size_t)s->count;
  int64_t* ids = malloc(n * sizeof *ids + 1);
  int32_t* species = malloc(n * sizeof *species + 1);
  float(*velocity)[3] = malloc(n * sizeof *velocity + 1);
  double(*position)[3] = malloc(n * sizeof *position + 1);
  double* energy = malloc(n * sizeof *energy + 1);
  struct label* labels = calloc(n + 1, sizeof *labels);
  hsize_t labelled = 0;
  for (size_t i = 0; i < n; ++i) {
    const struct particle* p = &s->all[i];
    ids[i] = p->id;
    species[i] = p->species;
    memcpy(velocity[i], p->velocity, sizeof p->velocity);
    memcpy(position[i], p->position, sizeof p->position);
    energy[i] = 0;
    for (int d = 0; d < 3; ++d) energy[i] += 0.5 * (double)p->velocity[d] * (double)p->velocity[d];
    if (p->id % 10 == 0) {
      struct label* l = &labels[labelled++];
      *l = (struct label){.id = p->id,
                          .mass = 1.0 + 0.5 * p->species,
                          .charge = {(float)p->species, -1},
                          .kind = (int8_t)(p->species % 3)};
      snprintf(l->name, sizeof l->name, "p%lld", (long long)p->id);
    }
  }
  hid_t file = run_create(run, step);
  write_number(file, "count", H5T_NATIVE_LONG, &s->count);
  const hsize_t count = n, vectors[2] = {n, 3};
  write_array(run, file, "id", H5T_NATIVE_INT64, 1, &count, ids);
  write_array(run, file, "species", H5T_NATIVE_INT32, 1, &count, species);
  write_array(run, file, "velocity", H5T_NATIVE_FLOAT, 2, vectors, velocity);
  write_array(run, file, "position", H5T_NATIVE_DOUBLE, 2, vectors, position);
  write_array(run, file, "energy", H5T_NATIVE_DOUBLE, 1, &count, energy);
  hid_t type = label_type();
  write_array(run, file, "labels", type, 1, &labelled, labels);
  hid_t dataset = must(H5Dopen2(file, "position", H5P_DEFAULT), "position");
  const double box[3] = {1, 1, 1};
  hid_t space = must(H5Screate_simple(1, (const hsize_t[]){3}, NULL), "box");
  hid_t attribute =
      must(H5Acreate2(dataset, "box", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT), "box");
  must(H5Awrite(attribute, H5T_NATIVE_DOUBLE, box), "box");
  H5Aclose(attribute);
  H5Sclose(space);
  H5Dclose(dataset);
  H5Tclose(type);
  run_commit(run, file, step);
  free(labels);
  free(energy);
  free(position);
  free(velocity);
  free(species);
  free(ids);
}

static void read_checkpoint(struct swarm* s, hid_t file) {
  read_number(file, "count", H5T_NATIVE_LONG, &s->count);
  reserve(s, s->count);
  const size_t n = (size_t)s->count;
  int64_t* ids = malloc(n * sizeof *ids + 1);
  int32_t* species = malloc(n * sizeof *species + 1);
  float(*velocity)[3] = malloc(n * sizeof *velocity + 1);
  double(*position)[3] = malloc(n * sizeof *position + 1);
  read_array(file, "id", H5T_NATIVE_INT64, ids);
  read_array(file, "species", H5T_NATIVE_INT32, species);
  read_array(file, "velocity", H5T_NATIVE_FLOAT, velocity);
  read_array(file, "position", H5T_NATIVE_DOUBLE, position);
  struct label* labels = calloc(n + 1, sizeof *labels);
  hid_t type = label_type();
  read_array(file, "labels", type, labels);
  size_t labelled = 0;
  for (size_t i = 0; i < n; ++i) {
    struct particle p = {.id = ids[i], .species = species[i]};
    memcpy(p.velocity, velocity[i], sizeof p.velocity);
    memcpy(p.position, position[i], sizeof p.position);
    s->all[i] = p;
    if (p.id % 10 == 0 && (labels[labelled].id != p.id || labels[labelled++].kind != p.species % 3))
      run_fail("the checkpoint's labels do not belong to its particles");
  }
  H5Tclose(type);
  must(H5Fclose(file), "H5Fclose");
  free(labels);
  free(position);
  free(velocity);
  free(species);
  free(ids);
}

static uint64_t answer(const struct swarm* s) {
  uint64_t mine = 0, all = 0;
  for (long i = 0; i < s->count; ++i) {
    const struct particle* p = &s->all[i];
    uint64_t hash = mix(UINT64_C(0xcbf29ce484222325), &p->id, sizeof p->id);
    hash = mix(hash, p->position, sizeof p->position);
    mine += mix(hash, p->velocity, sizeof p->velocity);
  }
  MPI_Reduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  return all;
}

int main(int count, char** words) {
  struct run run = {.size = 20000};
  run_begin(&run, &count, &words, "particles that wander between ranks",
            "number of particles (20000)");
  if (run.start) run_fail("--start: this program has no field of the whole domain");
  struct swarm swarm = {0};
  long step = 0;
  hid_t file;
  if (run.restart && (step = run_newest(&run, &file)) > 0)
    read_checkpoint(&swarm, file);
  else
    fill(&swarm, &run);
  while (step < run.steps) {
    move(&swarm, step);
    migrate(&swarm, &run);
    ++step;
    if (run.sleep_ms)
      nanosleep(&(struct timespec){run.sleep_ms / 1000, run.sleep_ms % 1000 * 1000000}, NULL);
    if (step % run.every == 0) write_checkpoint(&swarm, &run, step);
  }
  run_end(&run, answer(&swarm));
  return 0;
}
