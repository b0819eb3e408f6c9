// SPDX-License-Identifier: BSD-3-Clause
// Writes many small files in one process, one after another, like a program that writes a file for
// each step, particle or block.
//
//   many_files write DIR COUNT BYTES [SEED]   writes DIR/f000000.h5 … with a dataset of BYTES bytes each
//   many_files read DIR COUNT BYTES [SEED]    opens each and compares its dataset
//   many_files private DIR …            write, and each third file is closed to all but its owner at once
//   many_files move DIR …               write, and each file is moved into a directory of its own at once
//   many_files turns DIR COUNT BYTES [SEED]   writes, opens and compares one after another
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void expect(int holds, const char *what, const char *path)
{
    if (holds)
        return;
    fprintf(stderr, "many_files: %s: %s\n", what, path);
    exit(1);
}

static void fill(int *values, hsize_t count, int file, int seed)
{
    for (hsize_t i = 0; i < count; ++i)
        values[i] = seed * 1000003 + file * 7919 + (int)i * (1 + file % 3);
}

static void write_file(const char *path, const int *values, hsize_t count)
{
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    expect(file >= 0, "cannot create", path);
    hid_t space = H5Screate_simple(1, &count, NULL);
    hid_t data = H5Dcreate2(file, "values", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    expect(H5Dwrite(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0, "cannot write", path);
    H5Dclose(data);
    H5Sclose(space);
    expect(H5Fclose(file) >= 0, "cannot close", path);
}

static void read_file(const char *path, const int *values, int *found, hsize_t count)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    expect(file >= 0, "cannot open", path);
    hid_t data = H5Dopen2(file, "values", H5P_DEFAULT);
    expect(data >= 0 && H5Dread(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, found) >= 0, "cannot read", path);
    expect(memcmp(values, found, count * sizeof *values) == 0, "other values in", path);
    H5Dclose(data);
    H5Fclose(file);
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "many_files write|read|turns|private|move DIR COUNT BYTES [SEED]\n");
        return 2;
    }
    const int writes = strcmp(argv[1], "read") != 0;
    const int reads = strcmp(argv[1], "read") == 0 || strcmp(argv[1], "turns") == 0;
    const int files = atoi(argv[3]);
    const hsize_t count = (hsize_t)atoi(argv[4]) / sizeof(int);
    const int seed = argc > 5 ? atoi(argv[5]) : 1;
    int *values = malloc(count * sizeof *values + 1);
    int *found = malloc(count * sizeof *found + 1);
    expect(values && found, "no memory", argv[2]);
    for (int i = 0; i < files; ++i) {
        char path[4096];
        snprintf(path, sizeof path, "%s/f%06d.h5", argv[2], i);
        fill(values, count, i, seed);
        if (writes)
            write_file(path, values, count);
        if (strcmp(argv[1], "private") == 0 && i % 3 == 0)
            expect(chmod(path, 0600) == 0, "cannot change the mode of", path);
        if (strcmp(argv[1], "move") == 0) {
            char place[4096];
            snprintf(place, sizeof place, "%s/d%06d", argv[2], i);
            expect(mkdir(place, 0777) == 0, "cannot make", place);
            snprintf(place, sizeof place, "%s/d%06d/f.h5", argv[2], i);
            expect(rename(path, place) == 0, "cannot rename", path);
        }
        if (reads)
            read_file(path, values, found, count);
    }
    free(values);
    free(found);
    return 0;
}
