// SPDX-License-Identifier: BSD-3-Clause
// The one place that knows which Catch2 there is: version 2 in Debian 12, version 3 in Debian 13.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
