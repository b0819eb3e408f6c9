// SPDX-License-Identifier: BSD-3-Clause
// All kernels, for accelerators: CUDA (make_ptx) or HIP (test/gpu/hip-kernels).
#include "codecs/gpu/kernels/cuda_prelude.hpp"
#include "codecs/gpu/kernels/hip_prelude.hpp"
// (the preludes come first)
#include "codecs/gpu/kernels/context_kernels.hpp"
#include "codecs/gpu/kernels/decode_kernels.hpp"
#include "codecs/gpu/kernels/dictionary_kernels.hpp"
#include "codecs/gpu/kernels/entropy_kernels.hpp"
#include "codecs/gpu/kernels/lorenzo_decode_kernels.hpp"
#include "codecs/gpu/kernels/lorenzo_kernels.hpp"
#include "codecs/gpu/kernels/rest_kernels.hpp"
#include "codecs/gpu/kernels/sum_kernels.hpp"
#include "codecs/gpu/kernels/word_kernels.hpp"
