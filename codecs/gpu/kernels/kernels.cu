// SPDX-License-Identifier: BSD-3-Clause
// All kernels, for accelerators; make_ptx compiles this file.
#include "codecs/gpu/kernels/cuda_prelude.hpp"
// (the prelude comes first)
#include "codecs/gpu/kernels/context_kernels.hpp"
#include "codecs/gpu/kernels/decode_kernels.hpp"
#include "codecs/gpu/kernels/dictionary_kernels.hpp"
#include "codecs/gpu/kernels/entropy_kernels.hpp"
#include "codecs/gpu/kernels/lorenzo_decode_kernels.hpp"
#include "codecs/gpu/kernels/lorenzo_kernels.hpp"
#include "codecs/gpu/kernels/rest_kernels.hpp"
#include "codecs/gpu/kernels/sum_kernels.hpp"
#include "codecs/gpu/kernels/word_kernels.hpp"
