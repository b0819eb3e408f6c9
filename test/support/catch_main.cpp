// SPDX-License-Identifier: BSD-3-Clause
// main() of every unit test program, compiled once (Catch2 2 takes ten seconds for it).
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_session.hpp>
int main(int count, char** words) { return Catch::Session().run(count, words); }
#else
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
