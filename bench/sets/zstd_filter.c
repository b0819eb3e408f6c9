/* SPDX-License-Identifier: BSD-3-Clause */
#include "zstd_filter.h"

#include <hdf5.h>
#include <stdlib.h>
#include <zstd.h>

static size_t filter(unsigned flags, size_t parameter_count, const unsigned parameters[],
                     size_t bytes, size_t* buffer_bytes, void** buffer) {
  const int decodes = (flags & H5Z_FLAG_REVERSE) != 0;
  const unsigned long long size =
      decodes ? ZSTD_getFrameContentSize(*buffer, bytes) : ZSTD_compressBound(bytes);
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) return 0;
  void* const out = malloc(size + 1);
  if (out == NULL) return 0;
  const int level = parameter_count > 0 ? (int)parameters[0] : ZSTD_CLEVEL_DEFAULT;
  const size_t done = decodes ? ZSTD_decompress(out, size, *buffer, bytes)
                              : ZSTD_compress(out, size, *buffer, bytes, level);
  if (ZSTD_isError(done)) {
    free(out);
    return 0;
  }
  free(*buffer);
  *buffer = out;
  *buffer_bytes = size;
  return done;
}

int register_zstd_filter(void) {
  const H5Z_class2_t zstd = {
      H5Z_CLASS_T_VERS, zstd_filter, 1, 1, "zstd", NULL, NULL, filter,
  };
  return H5Zregister(&zstd) < 0 ? -1 : 0;
}
