// SPDX-License-Identifier: BSD-3-Clause
#include "restart/settings/settings.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "test/support/catch.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr;
using namespace mcr::restart;

namespace {

/// The environment of one test: all our variables are unset at first, and those that the test sets
/// are unset at its end.
class Environment {
 public:
  Environment() {
    std::vector<std::string> ours;
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string_view text = *entry;
      if (text.starts_with("MCR_")) ours.emplace_back(text.substr(0, text.find('=')));
    }
    for (const std::string& name : ours) ::unsetenv(name.c_str());
    set("XDG_CONFIG_HOME", configuration_.path());
  }
  ~Environment() {
    for (const std::string& name : names_) ::unsetenv(name.c_str());
  }
  void set(const std::string& name, const std::string& value) {
    ::setenv(name.c_str(), value.c_str(), 1);
    names_.push_back(name);
  }
  [[nodiscard]] const ScratchDirectory& configuration() const { return configuration_; }

 private:
  ScratchDirectory configuration_;
  std::vector<std::string> names_;
};

void write(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

Result<Settings> load(const std::string& text, const std::string& directory = {},
                      const std::string& installed = {}) {
  std::vector<std::string> warnings;
  return load_settings(text, directory, warnings, installed);
}

std::string error_of(const Result<Settings>& loaded) {
  if (loaded) return "no error";
  CHECK(loaded.error().cause == Cause::usage);
  return loaded.error().message;
}

bool has(const std::string& text, const std::string& piece) {
  return text.find(piece) != std::string::npos;
}

}  // namespace

TEST_CASE("every default is a value that may be set") {
  for (const SettingRow& row : settings_table()) {
    INFO(row.name);
    CHECK_FALSE(row.help.empty());
    CHECK(row.help.ends_with('.'));
    if (row.default_value.empty() || row.name == "stage") continue;
    Settings settings;
    CHECK(settings.set(row.name, row.default_value, "test"));
  }
}

TEST_CASE("defaults are those of the design") {
  const Settings settings;
  CHECK(settings.text("files") == "auto");
  CHECK(settings.text("stage") == "/dev/shm/mcr-" + std::to_string(::geteuid()));
  CHECK(settings.text("stage_limit") == "auto");
  CHECK(settings.bytes("stage_limit") == 0);
  CHECK(settings.count("keep") == 0);
  CHECK(settings.text("close") == "staged");
  CHECK(settings.text("exit") == "wait");
  CHECK(settings.milliseconds("exit_wait") == 600'000);
  CHECK(settings.milliseconds("set_wait") == 10'000);
  CHECK(settings.text("appended") == "native");
  CHECK(settings.text("log") == "summary");
  CHECK(settings.text("profile") == "balanced");
  CHECK(settings.text("scheme") == "auto");
  CHECK(settings.count("group_size") == 0);
  CHECK(settings.bytes("leader_memory") == 256ULL << 20);
  CHECK(settings.text("container_dir") == "mcr");
  CHECK(settings.flag("verify"));
  CHECK(settings.bytes("min_size") == 100);
  CHECK(settings.text("codec.double").empty());
  CHECK_FALSE(settings.is_set("keep"));
  CHECK(settings.source("keep") == "default");
  CHECK(settings.changed().empty());
}

TEST_CASE("sizes take units") {
  CHECK(parse_size("100").value_or(0) == 100);
  CHECK(parse_size("100 B").value_or(0) == 100);
  CHECK(parse_size("64k").value_or(0) == 65536);
  CHECK(parse_size("64 KiB").value_or(0) == 65536);
  CHECK(parse_size("64 kB").value_or(0) == 64000);
  CHECK(parse_size("1.5 GiB").value_or(0) == 3ULL << 29);
  CHECK(parse_size(" 2TB ").value_or(0) == 2'000'000'000'000);
  CHECK(parse_size("0").value_or(1) == 0);
  for (const char* bad :
       {"", "x", "-1", "1 XB", "1e9", "1..5", "KiB", ".", "99999999999999999999", "9000000 TiB"}) {
    INFO(bad);
    CHECK_FALSE(parse_size(bad));
  }
}

TEST_CASE("durations take units; without a unit they are seconds") {
  CHECK(parse_duration("250 ms").value_or(0) == 250);
  CHECK(parse_duration("10").value_or(0) == 10'000);
  CHECK(parse_duration("0.5 s").value_or(0) == 500);
  CHECK(parse_duration("10min").value_or(0) == 600'000);
  CHECK(parse_duration("1 h").value_or(0) == 3'600'000);
  CHECK_FALSE(parse_duration("1 day"));
  CHECK_FALSE(parse_duration("-1 s"));
}

TEST_CASE("an unknown key is an error that names it, its source, and all keys") {
  const Environment environment;
  const std::string message = error_of(load("keeep=2"));
  CHECK(has(message, "\"keeep\""));
  CHECK(has(message, "HDF5_VOL_CONNECTOR"));
  CHECK(has(message, "keep, "));
  CHECK(has(message, "profile"));
}

TEST_CASE("a bad value is an error that names it and lists what is allowed") {
  const Environment environment;
  const std::string message = error_of(load("profile=fastest"));
  CHECK(has(message, "profile"));
  CHECK(has(message, "\"fastest\""));
  CHECK(has(message, "fast|balanced|max|none|paper|portable"));
  for (const char* bad : {"keep=-1",
                          "keep=many",
                          "keep=",
                          "exit_wait=soon",
                          "stage=relative",
                          "stage_limit=lots",
                          "verify=maybe",
                          "container_dir=/abs",
                          "leader_cpus=a",
                          "leader_cpus=3-1",
                          "leader_cpus=0-77777",
                          "allow=rel",
                          "codec.double=nosuchcodec",
                          "codec.=zstd",
                          "codec.a{b=zstd",
                          "codec.\x01=zstd",
                          "keep",
                          "=3",
                          "group_size=all",
                          "files=a{b",
                          "match=(",
                          "match=[a-",
                          "match=a**b)",
                          "match=*",
                          "close=Staged"}) {
    INFO(bad);
    CHECK_FALSE(load(bad));
  }
}

TEST_CASE("write_streams is a number from 1 to 64") {
  const Environment environment;
  for (const char* good : {"1", "4", "64"}) {
    INFO(good);
    CHECK(load(std::string("write_streams=") + good));
  }
  for (const char* bad : {"0", "65", "4294967296"}) {
    INFO(bad);
    CHECK_FALSE(load(std::string("write_streams=") + bad));
  }
  CHECK(has(error_of(load("write_streams=65")),
            "setting write_streams: \"65\" (HDF5_VOL_CONNECTOR) is not allowed: "
            "it must be a number from 1 to 64"));
}

TEST_CASE("gpu is off, auto or the number of a GPU") {
  const Environment environment;
  CHECK(load("")->text("gpu") == "off");
  CHECK(load("")->bytes("gpu_memory") == std::uint64_t{512} << 20);
  for (const char* good : {"off", "auto", "0", "7", "1023"}) {
    INFO(good);
    CHECK(load(std::string("gpu=") + good));
  }
  for (const char* bad : {"on", "-1", "1024", "0,1", "all"}) {
    INFO(bad);
    CHECK_FALSE(load(std::string("gpu=") + bad));
  }
}

TEST_CASE("allowed values are accepted") {
  const Environment environment;
  for (const char* good : {"stage_limit=auto",
                           "stage_limit=2 GiB",
                           "leader_cpus=0-3,8",
                           "leader_cpus=auto",
                           "allow=/a:/b/c",
                           "allow=none",
                           "container_dir=../mcr",
                           "group_size=node",
                           "group_size=4",
                           "leader_threads=auto",
                           "leader_threads=2",
                           "codec.double=zstd",
                           "codec.Grid{n}/Density=none",
                           "verify=off",
                           "verify=no",
                           " keep = 2 ; ; profile = max ",
                           "match=^a.*b$",
                           "match=^(left|right)_",
                           "match=Grid[0-9]{1,8}/",
                           ""}) {
    INFO(good);
    CHECK(load(good));
  }
}

TEST_CASE("globs of files= may be joined by semicolons in the connector's text") {
  const Environment environment;
  const auto loaded = load("keep=2;files=dump_{rank}.h5;snap_{part}.h5;profile=max");
  REQUIRE(loaded);
  CHECK(loaded->text("files") == "dump_{rank}.h5;snap_{part}.h5");
  CHECK(loaded->text("profile") == "max");
  CHECK_FALSE(load("keep=2;dump_{rank}.h5"));
  CHECK(load("files={a=b.h5;c.h5};keep=2")->text("files") == "a=b.h5;c.h5");
  CHECK(load("files={rank}.h5")->text("files") == "{rank}.h5");
}

TEST_CASE("the changed settings can be passed to another process") {
  Settings settings;
  CHECK(settings.set("files", "{rank}=x;b{part}.h5", "test"));
  CHECK(settings.set("keep", "3", "test"));
  CHECK(settings.set("codec.double", "zstd", "test"));
  CHECK(settings.set("rank", "7", "test"));
  CHECK(settings.set("launch", "L", "test"));
  Settings other;
  REQUIRE(other.set_all(settings.changed(), "journal"));
  CHECK(other.text("files") == "{rank}=x;b{part}.h5");
  CHECK(other.count("keep") == 3);
  CHECK(other.text("codec.double") == "zstd");
  CHECK_FALSE(other.is_set("rank"));
  CHECK_FALSE(other.is_set("launch"));
  CHECK(other.codec_overrides() ==
        std::vector<std::pair<std::string, std::string>>{{"codec.double", "zstd"}});
  SECTION("even a value that is one pair of braces") {
    CHECK(settings.set("files", "{rank}", "test"));
    REQUIRE(other.set_all(settings.changed(), "journal"));
    CHECK(other.text("files") == "{rank}");
  }
}

TEST_CASE("a stronger source overrides a weaker one, and every value has its source") {
  Environment environment;
  const ScratchDirectory checkpoint;
  const ScratchDirectory installed;
  std::filesystem::create_directory(environment.configuration() / "mcr");
  const std::string user = environment.configuration() / "mcr/mcr.conf";
  write(installed / "mcr.conf",
        "keep = 1\nset_wait = \"1 s\"\nexit = \"leave\"\nclose = \"staged\"\nlog = \"debug\"\n");
  write(user, "keep = 2\nset_wait = \"2 s\"\nexit = \"wait\"\nclose = \"durable\"\n");
  write(checkpoint / "mcr.conf", "keep = 3\nset_wait = \"3 s\"\nexit = \"leave\"\n");
  environment.set("MCR_KEEP", "4");
  environment.set("MCR_SET_WAIT", "4 s");
  environment.set("MCR_CODEC_DOUBLE", "zstd");
  const auto loaded = load("keep=5", checkpoint.path(), installed / "mcr.conf");
  REQUIRE(loaded);
  CHECK(loaded->count("keep") == 5);
  CHECK(loaded->source("keep") == "HDF5_VOL_CONNECTOR");
  CHECK(loaded->milliseconds("set_wait") == 4000);
  CHECK(loaded->source("set_wait") == "MCR_SET_WAIT");
  CHECK(loaded->text("exit") == "leave");
  CHECK(loaded->source("exit") == checkpoint / "mcr.conf");
  CHECK(loaded->text("close") == "durable");
  CHECK(loaded->source("close") == user);
  CHECK(loaded->text("log") == "debug");
  CHECK(loaded->source("log") == installed / "mcr.conf");
  CHECK(loaded->text("codec.double") == "zstd");
}

TEST_CASE("mcr.conf is TOML with numbers, flags, texts, lists and a table of codecs") {
  const Environment environment;
  const ScratchDirectory directory;
  write(directory / "mcr.conf",
        "# ours\nkeep = 3\nverify = false\nprofile = \"max\"\nfiles = [\"a.h5\", \"b{rank}.h5\"]\n"
        "[codec]\ndouble = \"zstd\"\n");
  auto loaded = load("", directory.path());
  REQUIRE(loaded);
  CHECK(loaded->count("keep") == 3);
  CHECK_FALSE(loaded->flag("verify"));
  CHECK(loaded->text("profile") == "max");
  CHECK(loaded->text("files") == "a.h5;b{rank}.h5");
  CHECK(loaded->text("codec.double") == "zstd");
  write(directory / "mcr.conf",
        "\xef\xbb\xbf\r\nfiles = [ # two\r\n 'a\\b', \n\n \"c\\\"d\", # "
        "last\n]\r\ncodec.\"Grid{n}/x\" = "
        "'none' # why\n[ codec ]\n\tfloat='zstd'");
  loaded = load("", directory.path());
  REQUIRE(loaded);
  CHECK(loaded->text("files") == "a\\b;c\"d");
  CHECK(loaded->text("codec.Grid{n}/x") == "none");
  CHECK(loaded->text("codec.float") == "zstd");
}

TEST_CASE("a mistake in mcr.conf is an error that names file and line or key") {
  const Environment environment;
  const ScratchDirectory directory;
  write(directory / "mcr.conf", "keep = 3\nprofile = = 2\n");
  CHECK(has(error_of(load("", directory.path())), directory / "mcr.conf, line 2"));
  write(directory / "mcr.conf", "keeep = 3\n");
  CHECK(has(error_of(load("", directory.path())), "keeep"));
  write(directory / "mcr.conf", "keep = 1.5\n");
  CHECK(has(error_of(load("", directory.path())), "line 1: a value must be"));
  write(directory / "mcr.conf", "keep = 1979-05-27\n");
  CHECK_FALSE(load("", directory.path()));
  write(directory / "mcr.conf", std::string(70'000, '#'));
  CHECK(has(error_of(load("", directory.path())), "longer"));
  for (const char* mistake : {"[[[",
                              "keep",
                              "keep =",
                              "keep = 1 2",
                              "keep = 1\nkeep = 2",
                              "[codec",
                              "[codec] keep = 1",
                              "profile = \"max",
                              "profile = \"m\\x\"",
                              "files = [\"a\" \"b\"]",
                              "files = [1]",
                              "files = [",
                              "keep = 01",
                              "keep = -1",
                              "= 1",
                              "keep.x = 1",
                              "verify = maybe",
                              "\"",
                              "'",
                              "a.\"b",
                              "["}) {
    write(directory / "mcr.conf", mistake);
    INFO(mistake);
    CHECK_FALSE(load("", directory.path()));
  }
}

TEST_CASE("a configuration file of another user is ignored with a warning") {
  if (::geteuid() != 0) return;
  const Environment environment;
  const ScratchDirectory directory;
  write(directory / "mcr.conf", "this is not even TOML");
  REQUIRE(::chown((directory / "mcr.conf").c_str(), 12345, 12345) == 0);
  std::vector<std::string> warnings;
  const auto loaded = load_settings("", directory.path(), warnings);
  REQUIRE(loaded);
  REQUIRE(warnings.size() == 1);
  CHECK(has(warnings[0], "mcr.conf"));
  CHECK(has(warnings[0], "12345"));
}

TEST_CASE("an mcr.conf that is not a regular file is ignored and does not block") {
  const Environment environment;
  const ScratchDirectory directory;
  REQUIRE(::mkfifo((directory / "mcr.conf").c_str(), 0600) == 0);
  std::vector<std::string> warnings;
  CHECK(load_settings("", directory.path(), warnings));
  CHECK(warnings.size() == 1);
  CHECK(load("", directory / "nowhere"));
}

TEST_CASE("variables of other programs are ignored, typing errors are not") {
  Environment environment;
  environment.set("MCR_CACHE_ROOT", "/tmp");  // MATLAB's runtime
  environment.set("MCR_BUILD", "/tmp/build");
  environment.set("MCR_KEEP", "");
  CHECK(load(""));
  CHECK_FALSE(load("")->is_set("keep"));
  for (const char* slip : {"MCR_KEP", "MCR_KEEEP", "MCR_KEPE", "MCR_FILE", "MCR_STAGE_LIMT"}) {
    environment.set(slip, "1");
    INFO(slip);
    CHECK(has(error_of(load("")), "is "));
    ::unsetenv(slip);
  }
}

TEST_CASE("docs/settings.md agrees with the table") {
  std::ifstream file(MCR_SOURCE_ROOT "/docs/settings.md");
  std::stringstream content;
  content << file.rdbuf();
  INFO("after a change of the table: ninja -C build docs-settings");
  CHECK(content.str() == settings_page());
}
