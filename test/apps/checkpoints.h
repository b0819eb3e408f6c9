// SPDX-License-Identifier: BSD-3-Clause
// What both programs do alike: options, names of rank files, the search for the newest complete
// step, the time spent. Nothing here knows of mcr: this is how checkpoint code in users' programs
// looks.
#pragma once

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

struct run {
  int rank, ranks;
  // Options
  long size;          // of the problem, as the program understands it
  long steps, every;  // a checkpoint after every so many steps
  const char* dir;    // where checkpoints lie
  const char* names;  // below dir; {step} {rank} {ranks} {slot}, {step:5} for leading zeros,
                      // {rank/4} divided
  long slots;         // {slot} = number of the checkpoint modulo slots
  long keep;          // remove all but the newest so many (0: keep all)
  bool rename;        // write to NAME.tmp, then rename
  bool restart;       // from the newest complete step, else from the beginning
  const char* start;  // go on from this file of the whole field, on any number of ranks
  bool gzip;          // chunked and compressed datasets
  long sleep_ms;      // per step
  // Results
  double checkpoint_begin;    // of the newest checkpoint, by run_clock()
  double checkpoint_seconds;  // this rank spent in checkpoint calls
  long written, written_bytes;
};

// Reads the options; prints help or what is wrong and ends the program. Creates dir.
void run_begin(struct run* run, int* count, char*** words, const char* title,
               const char* size_meaning);

// The file of this rank for a step, as a path that stays valid until the next call.
const char* run_path(const struct run* run, long step);

// A file for writing, its folders made; run_commit closes it, renames it if asked, removes old
// ones.
hid_t run_create(struct run* run, long step);
void run_commit(struct run* run, hid_t file, long step);

// The newest step that every rank can open, and this rank's file opened; 0 when there is none (then
// *file < 0).
long run_newest(const struct run* run, hid_t* file);

// Prints the checksum of the answer and the time spent, and ends MPI.
void run_end(struct run* run, uint64_t checksum);

double run_clock(void);
_Noreturn void run_fail(const char* format, ...) __attribute__((format(printf, 1, 2)));

// HDF5 calls that must not fail: the id or status, else the program ends.
hid_t must(hid_t result, const char* what);

uint64_t mix(uint64_t hash, const void* bytes, size_t count);

void write_array(const struct run* run, hid_t place, const char* name, hid_t type, int rank,
                 const hsize_t* shape, const void* data);
void read_array(hid_t place, const char* name, hid_t type, void* data);
void write_number(hid_t place, const char* name, hid_t type, const void* value);
void read_number(hid_t place, const char* name, hid_t type, void* value);
