// SPDX-License-Identifier: BSD-3-Clause
// How names are printed, which may contain any byte.
#include "restart/base/printable.hpp"

#include "test/support/catch.hpp"

using mcr::restart::printable;

TEST_CASE("a name without control characters is printed as it is") {
  CHECK(printable("") == "");
  CHECK(printable("out/ckpt a\\b'\"$.h5") == "out/ckpt a\\b'\"$.h5");
  CHECK(printable("Gr\u00fc\u00dfe \u65e5\u672c \U0001f600") ==
        "Gr\u00fc\u00dfe \u65e5\u672c \U0001f600");
}

TEST_CASE("characters that a terminal acts upon are printed as escapes") {
  CHECK(printable("a\033[2Jb") == "a\\033[2Jb");
  CHECK(printable("a\nb\tc\rd\x7f") == "a\\nb\\tc\\rd\\177");
  CHECK(printable(std::string_view("a\0b", 3)) == "a\\000b");
  CHECK(printable("\u009b2J") == "\\302\\2332J");                   // CSI as one character
  CHECK(printable("a\u202etxt.exe") == "a\\342\\200\\256txt.exe");  // right to left
  CHECK(printable("a\u2028b") == "a\\342\\200\\250b");              // line separator
}

TEST_CASE("bytes that are not UTF-8 are printed as escapes, one by one") {
  CHECK(printable("a\xff\xfe"
                  "b") == "a\\377\\376b");
  CHECK(printable("\x9b"
                  "2J") == "\\2332J");           // CSI in Latin-1
  CHECK(printable("\xc3") == "\\303");           // cut
  CHECK(printable("\xc0\x9b") == "\\300\\233");  // overlong
  CHECK(printable("\xe0\x80\x9b") == "\\340\\200\\233");
  CHECK(printable("\xed\xa0\x80") == "\\355\\240\\200");           // a surrogate
  CHECK(printable("\xf4\x90\x80\x80") == "\\364\\220\\200\\200");  // beyond Unicode
}
