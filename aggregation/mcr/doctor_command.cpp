// SPDX-License-Identifier: BSD-3-Clause
// mcr doctor [-- CMD…]: proves that a program is intercepted on this machine, or says what to fix.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "aggregation/mcr/commands.hpp"
#include "aggregation/mcr/exit_codes.hpp"
#include "aggregation/mcr/interception.hpp"
#include "aggregation/mcr/launch_report.hpp"
#include "aggregation/mcr/made_directory.hpp"
#include "aggregation/mcr/node_leaders.hpp"
#include "aggregation/mcr/site.hpp"
#include "aggregation/mcr/surroundings.hpp"
#include "codecs/gpu/lanes/card_lanes.hpp"
#include "codecs/gpu/lanes/open_card.hpp"
#include "restart/base/counted.hpp"
#include "restart/base/file.hpp"
#include "restart/base/name_text.hpp"
#include "restart/base/part_id.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/format/native_counts.hpp"
#include "restart/settings/launcher.hpp"
#include "restart/stage/resident_socket.hpp"

namespace mcr::aggregation {
namespace {

/// What happened to the files of the program that was examined.
enum class Captured : std::uint8_t { nothing, in_vain, files };

/// True if one of the traces belongs to a container with data. If all files of a set are native,
/// its container has no data.
bool has_bytes(const std::string& traces) {
  constexpr std::size_t most_bytes = 256U << 20;
  const auto names = restart::list_directory(AT_FDCWD, traces);
  if (!names) return false;
  return std::any_of(names->begin(), names->end(), [&](const std::string& name) {
    const auto content = restart::read_file(AT_FDCWD, traces + "/" + name, most_bytes);
    const auto trace =
        nlohmann::json::parse(content ? as_text(*content) : std::string_view(), nullptr, false);
    return trace.is_object() && trace.value("raw_bytes", std::uint64_t{0}) > 0;
  });
}

/// Returns the sums of what the processes with the plugin left in `directory`.
restart::CaptureCounts sum_of_counts(const std::string& directory) {
  constexpr std::size_t most_bytes = 4096;
  restart::CaptureCounts sum;
  const auto names = restart::list_directory(AT_FDCWD, directory);
  if (!names) return sum;
  for (const std::string& name : *names) {
    const auto content = restart::read_file(AT_FDCWD, directory + "/" + name, most_bytes);
    if (!content) continue;
    const restart::CaptureCounts one = restart::read_capture_counts(as_text(*content));
    sum.captured += one.captured;
    add_counts(sum.natives, one.natives);
  }
  // Files that the leader put back had been captured before.
  const std::uint64_t put_back =
      sum.natives[restart::NativeReason::lone] + sum.natives[restart::NativeReason::put_back];
  sum.captured -= std::min(sum.captured, put_back);
  return sum;
}

enum class Verdict { good, note, bad };

struct Finding {
  Verdict verdict;
  std::string what;
  std::string remedy;
};

const char* verdict_name(Verdict verdict) {
  return verdict == Verdict::good ? "ok" : verdict == Verdict::note ? "note" : "FIX";
}

/// Waits until the stage is empty, then removes it. The leader removes its own directory when it
/// ends, a moment after all is committed.
void remove_when_empty(const std::string& stage) {
  constexpr int looks = 100;
  constexpr auto pause = std::chrono::milliseconds(50);
  std::error_code problem;
  for (int look = 0; look < looks; ++look) {
    if (std::filesystem::remove(stage, problem)) return;
    if (problem != std::errc::directory_not_empty) return;
    std::this_thread::sleep_for(pause);
  }
}

/// Makes the directory at `path`, which only this user may enter.
Result<MadeDirectory> make_scratch(const std::string& path) {
  constexpr int to_hold = O_PATH | O_DIRECTORY;
  restart::File above = MCR_TRY(restart::File::open(AT_FDCWD, restart::parent_of(path), to_hold));
  const std::string name = restart::name_of(path);
  const std::uint64_t begun_ns = restart::clock_ns(CLOCK_REALTIME);
  if (restart::system_calls().mkdirat(above.descriptor(), name.c_str(), 0700) != 0)
    return restart::system_error("cannot make", path);
  return MadeDirectory::just_made(std::move(above), name, begun_ns);
}

/// Removes the directory `name`, in which only files are, from the open directory `home`.
void remove_with_files(const restart::File& home, const char* name) {
  constexpr int to_list = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
  const auto directory = restart::File::open(home.descriptor(), name, to_list);
  const auto names = directory ? restart::list_directory(directory->descriptor(), ".")
                               : Result<std::vector<std::string>>(directory.error());
  if (!names) return;
  const restart::SystemCalls& calls = restart::system_calls();
  for (const std::string& file : *names)
    (void)calls.unlinkat(directory->descriptor(), file.c_str(), 0);
  (void)calls.unlinkat(home.descriptor(), name, AT_REMOVEDIR);
}

/// Removes what the doctor and the program left in the scratch directory, by its names. Nothing else is removed, and
/// nothing in directories of other names.
void clear_scratch(const restart::File& scratch) {
  remove_with_files(scratch, "traces");
  remove_with_files(scratch, "counts");
  const auto names = restart::list_directory(scratch.descriptor(), ".");
  if (!names) return;
  for (const std::string& name : *names) {
    if (name.starts_with("loaded."))
      (void)restart::system_calls().unlinkat(scratch.descriptor(), name.c_str(), 0);
  }
}

/// Returns a stage beside the user's that does not exist. On each node the ranks make it themselves, because
/// they may run on other nodes than the doctor. All runs in a job take the same name, so that the
/// centre's plugin has at most one resident for them on each node.
Result<std::string> doctors_stage() {
  const std::string beside = MCR_TRY(stage_path({})) + "-doctor-";
  const std::string job = restart::scheduler_job();
  const std::string of_job = beside + restart::safe_name(job, 32);
  if (!job.empty() && ::access(of_job.c_str(), F_OK) != 0) return of_job;
  return beside + MCR_TRY(restart::PartId::random()).text();
}

/// Ends the resident that the centre's plugin has started on this node for that stage.
void end_resident(const std::string& stage, const std::string& node) {
  constexpr int limit_ms = 10'000;
  const auto asked = restart::ask_resident(stage, {node, restart::scheduler_job()},
                                           {restart::ResidentRequest::Kind::end, {}, {}});
  pollfd source{asked ? asked->descriptor() : -1, POLLIN, 0};
  if (asked) (void)::poll(&source, 1, limit_ms);
}

class Doctor {
 public:
  void look_at_installation() {
    if (::access(plugin_file().c_str(), R_OK) == 0) {
      good("plugin " + plugin_file());
    } else {
      bad("the plugin " + plugin_file() + " is not there",
          "install mcr as a whole: `./bootstrap install --prefix P`");
    }
    const std::string path = original_variable("HDF5_PLUGIN_PATH");
    if (path.empty()) {
      note("HDF5_PLUGIN_PATH is not set in this shell",
           "export HDF5_PLUGIN_PATH=" + plugin_directory());
    } else if (!leads_to_plugin(path)) {
      bad("HDF5_PLUGIN_PATH=" + path + " does not lead to the plugin",
          "export HDF5_PLUGIN_PATH=" + plugin_directory() + ":$HDF5_PLUGIN_PATH");
    } else {
      good("HDF5_PLUGIN_PATH leads to the plugin");
    }
    const std::string connector = original_variable("HDF5_VOL_CONNECTOR");
    if (connector.empty()) {
      note("HDF5_VOL_CONNECTOR is not set in this shell: programs run natively",
           "export HDF5_VOL_CONNECTOR=mcr");
    } else if (connector != "mcr" && !connector.starts_with("mcr ")) {
      bad("HDF5_VOL_CONNECTOR=\"" + connector +
              "\" names another connector. HDF5 1.14 prints an error stack at its " +
              "first call and then goes on natively with exit code 0; 2.x fails every call",
          "export HDF5_VOL_CONNECTOR=mcr");
    } else {
      good("HDF5_VOL_CONNECTOR=" + connector);
    }
    if (original_variable("HDF5_PLUGIN_PRELOAD") == "::") {
      bad("HDF5_PLUGIN_PRELOAD=:: forbids HDF5 to load plugins", "unset HDF5_PLUGIN_PRELOAD");
    }
  }

  void look_at_settings_and_stage() {
    std::vector<std::string> warnings;
    const auto settings = settings_here(warnings);
    for (const std::string& warning : warnings)
      note(warning, "remove the file, or correct it as `mcr help settings` says");
    if (!settings)
      return bad(settings.error().message, "`mcr config --describe` lists all settings");
    const std::string stage(settings->text("stage"));
    const std::string above = restart::parent_of(stage);
    struct statvfs space {};
    // Looks at the stage first, because it may be a file system of its own.
    if (::statvfs(stage.c_str(), &space) != 0 && ::statvfs(above.c_str(), &space) != 0) {
      return bad(
          "the stage " + stage + " cannot be made: " + restart::system_error("no", above).message,
          "set stage= to a directory on a memory file system, such as one below /dev/shm");
    }
    struct stat status {};
    if (::lstat(stage.c_str(), &status) == 0 &&
        (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() ||
         (status.st_mode & 0777) != 0700)) {
      return bad("the stage " + stage +
                     " is not a directory that belongs to you and has mode 0700: every file is "
                     "written natively",
                 "remove it, or set stage= to another directory");
    }
    const std::uint64_t free_bytes = static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize;
    const std::string text = "stage " + stage + ", " + size_text(free_bytes) + " free";
    if (free_bytes < (64U << 20)) {
      bad(text,
          "free memory there, or set stage= to another memory file system: when the stage is full, "
          "files are written natively");
    } else {
      good(text);
    }
  }

  /// How long the examined program's files may take to storage.
  static constexpr std::uint64_t drain_ms = 600'000;

  /// Runs the program with LD_DEBUG, so that the loader's log shows which libraries it loads.
  Result<void> look_at_program(const std::vector<std::string>& words, bool quiet) {
    const std::string stage = MCR_TRY(doctors_stage());
    std::error_code problem;
    const auto temporary = std::filesystem::temp_directory_path(problem);
    if (problem) {
      return Error{Cause::usage,
                   "cannot examine a program without a directory for temporary files: set TMPDIR "
                   "to an existing directory"};
    }
    const std::string unique = MCR_TRY(restart::PartId::random()).text().substr(0, 16);
    const std::string scratch = (temporary / ("mcr-doctor-" + unique)).string();
    const MadeDirectory made = MCR_TRY(make_scratch(scratch));
    // Read and cleared through its descriptor: while the program runs, another user may be able to move a directory of
    // the user's to this name.
    const restart::File& own = made.directory();
    if ((MCR_TRY(own.status()).st_mode & 0777) != 0700)
      return Error{Cause::system, scratch + " was replaced by another directory"};
    const std::string place = restart::link_path(own.descriptor());
    std::vector<std::string> environment = captured_environment();
    std::erase_if(environment, [](const std::string& entry) {
      return entry.starts_with("MCR_STAGE=") || entry.starts_with("MCR_TRACE=") ||
             entry.starts_with("MCR_DOCTOR_COUNTS=") || entry.starts_with("LD_DEBUG") ||
             entry.starts_with("HDF5_PLUGIN_PRELOAD=");
    });
    environment.push_back("MCR_STAGE=" + stage);
    const std::string traces = scratch + "/traces";  // the leader leaves one for each container
    environment.push_back("MCR_TRACE=" + traces);
    const std::string counts = place + "/counts";
    (void)restart::system_calls().mkdirat(own.descriptor(), "counts", 0700);
    environment.push_back("MCR_DOCTOR_COUNTS=" + scratch + "/counts");
    environment.emplace_back("LD_DEBUG=files");
    environment.push_back("LD_DEBUG_OUTPUT=" + scratch + "/loaded");
    const auto status = run_program(words, environment, quiet);
    const auto seen = read_loader_logs(place, plugin_file());
    std::error_code ignored;
    const bool has_stage = std::filesystem::exists(stage, ignored);
    if (has_stage) {
      const auto drained = drain_stage("doctor", stage, drain_ms);
      if (!drained || !drained->complete) judge_left(stage, drained);
      end_resident(stage, node_name());
    }
    // If the user's connector text sets trace=, it overrides MCR_TRACE, and this directory has no
    // traces.
    const bool has_other_traces =
        original_variable("HDF5_VOL_CONNECTOR").find("trace=") != std::string::npos;
    Captured captured = has_stage ? Captured::in_vain : Captured::nothing;
    // The ranks may have run on other nodes, so that this node has no stage.
    if (has_bytes(place + "/traces") || (has_stage && has_other_traces)) captured = Captured::files;
    const restart::CaptureCounts counted = sum_of_counts(counts);
    clear_scratch(own);
    made.remove();
    remove_when_empty(stage);
    if (!status) {
      judge_failed_start(words.front(), status.error());
      return {};
    }
    if (!seen) return seen.error();
    judge(words, *seen, captured, *status);
    tell_counts(counted);
    return {};
  }

  void look_at_node() {
    std::vector<std::string> warnings;
    const auto settings = settings_here(warnings);
    for (SiteFinding& finding :
         judge_site(look_at_site(settings ? *settings : restart::Settings()))) {
      if (finding.is_good) {
        good(std::move(finding.what));
      } else {
        note(std::move(finding.what), std::move(finding.remedy));
      }
    }
  }

  /// Without gpu=, the driver is not touched.
  void look_at_gpu() {
    std::vector<std::string> warnings;
    const auto settings = settings_here(warnings);
    if (!settings) return;  // said already
    const auto options =
        codecs::gpu::card_options(settings->text("gpu"), settings->bytes("gpu_memory"));
    if (!options.is_on) return;
    if (constexpr std::uint64_t least = codecs::gpu::least_lane_bytes;
        options.memory_bytes < least) {
      return note("gpu_memory=" + size_text(options.memory_bytes) +
                      " is too little for most frames, and the CPU does the GPU's work",
                  "set gpu_memory= to " + size_text(least) + " or more");
    }
    codecs::gpu::begin_to_open_card(options);
    codecs::gpu::await_card(std::chrono::seconds(30));
    if (const auto* const card = codecs::gpu::card_in_use(); card != nullptr) {
      const codecs::gpu::CardFacts& facts = card->facts();
      return good("GPU " + std::to_string(facts.index) + ", " + facts.name +
                  " (compute capability " + std::to_string(facts.capability_major) + "." +
                  std::to_string(facts.capability_minor) + ")" +
                  (facts.is_shared_by_mps ? ", shared by MPS" : "") + ": frames may use " +
                  size_text(options.memory_bytes) + " of its memory (gpu_memory=)");
    }
    note(
        codecs::gpu::problem_text(codecs::gpu::why_no_card()),
        "nothing is lost. To use a GPU, check `nvidia-smi` on this node, CUDA_VISIBLE_DEVICES, and "
        "that libcuda.so.1 is found; else set gpu=off");
  }

  [[nodiscard]] const std::vector<Finding>& findings() const { return findings_; }
  [[nodiscard]] bool is_healthy() const {
    for (const Finding& finding : findings_) {
      if (finding.verdict == Verdict::bad) return false;
    }
    return true;
  }

 private:
  /// The settings for files in the present directory, as a job that is started here finds them.
  static Result<restart::Settings> settings_here(std::vector<std::string>& warnings) {
    return effective_settings(".", warnings);
  }

  static std::string node_name() {
    std::vector<std::string> warnings;
    const auto settings = settings_here(warnings);
    const std::string given(settings ? settings->text("node") : "");
    return given.empty() ? restart::host_name() : given;
  }

  void good(std::string what) { findings_.push_back({Verdict::good, std::move(what), {}}); }
  void note(std::string what, std::string remedy) {
    findings_.push_back({Verdict::note, std::move(what), std::move(remedy)});
  }
  void bad(std::string what, std::string remedy) {
    findings_.push_back({Verdict::bad, std::move(what), std::move(remedy)});
  }

  /// True if a directory of the list has this installation's plugin, or a copy of the same size.
  static bool leads_to_plugin(const std::string& path) {
    const auto size_of = [](const std::string& file) {
      std::error_code none;
      const auto size = std::filesystem::file_size(file, none);
      return none ? std::uintmax_t{0} : size;
    };
    const std::vector<std::string> directories = restart::split_path_list(path);
    return std::any_of(directories.begin(), directories.end(), [&](const std::string& directory) {
      const std::uintmax_t size = size_of(directory + "/libmcr_vol.so");
      return size != 0 && size == size_of(plugin_file());
    });
  }

  /// Parts of the examined program are still in the stage.
  void judge_left(const std::string& stage, const Result<Drained>& drained) {
    if (drained) print_left("doctor", stage, drained->left);
    bad("files of the program are still in " + stage + ", and not yet in a container" +
            (drained ? "" : ": " + drained.error().message),
        "nothing is lost: `mcr recover --stage " + stage + "` brings them to storage");
  }

  void judge_failed_start(const std::string& program, const Error& error) {
    const std::string file = resolve(program);
    struct stat status {};
    const bool is_there = ::stat(file.c_str(), &status) == 0;
    if (error.system_error == ENOENT && is_there) {
      bad(program + " exists, but the interpreter or loader that it names does not",
          "a script names its interpreter in its first line: `head -n 1 " + file +
              "`; a program names its loader: `readelf -l " + file + "`");
    } else if (error.system_error == ENOENT || error.system_error == ENOTDIR) {
      bad("there is no program " + program,
          program.find('/') == std::string::npos
              ? "give the program's path, or add its directory to PATH"
              : "check the path; a relative path begins at the working directory");
    } else if (error.system_error == EACCES && S_ISDIR(status.st_mode)) {
      bad(program + " is a directory", "name a program in that directory");
    } else if (error.system_error == EACCES) {
      bad(program + " is not executable", "chmod +x " + file);
    } else if (error.system_error == ENOEXEC) {
      bad(program + " is neither a program of this machine nor a script that names its interpreter",
          "begin it with a line such as #!/bin/sh, or examine `sh " + program + "`");
    } else {
      bad(error.message, "make the program start without mcr first");
    }
  }

  // Judges a program with an HDF5 from a Python wheel. A wheel has its own HDF5, in NAME.libs
  // beside the package.
  void judge_wheel(const std::string& library) {
    const std::filesystem::path directory = std::filesystem::path(library).parent_path();
    const bool is_netcdf =
        directory.filename() == "netcdf4.libs" || directory.filename() == "netCDF4.libs";
    if (!is_netcdf && directory.filename() != "h5py.libs") return;
    note(
        "Python's file objects (h5py.File(open(…)), fsspec) and netCDF's memory= read the bytes of "
        "the stub itself, not the checkpoint's data",
        "let HDF5 open the file by its path, or make plain files: mcr unpack STUB -d DIR");
    // Unless HDF5_PLUGIN_PATH is set, the package netCDF4 sets it to its own filters.
    const std::filesystem::path filters = directory.parent_path() / "netCDF4" / "plugins";
    std::error_code none;
    if (!is_netcdf || !std::filesystem::is_directory(filters, none) ||
        has_directory(original_variable("HDF5_PLUGIN_PATH"), filters)) {
      return;
    }
    note("HDF5_PLUGIN_PATH hides the filters that netCDF4's wheel brings (zstd, blosc, bzip2)",
         "export HDF5_PLUGIN_PATH=" + plugin_directory() + ":" + filters.string());
  }

  static bool has_directory(const std::string& path, const std::filesystem::path& directory) {
    const std::vector<std::string> listed = restart::split_path_list(path);
    return std::any_of(listed.begin(), listed.end(), [&](const std::string& there) {
      std::error_code none;
      return std::filesystem::equivalent(there, directory, none);
    });
  }

  // Judges a program with HDF5 linked in statically. Such an HDF5 loads plugins, but our plugin
  // finds HDF5's functions only if the program exports them.
  void judge_linked_in(const std::string& program) {
    const std::string version = hdf5_version_in(resolve(program));
    bad("HDF5" + (version.empty() ? "" : " " + version) + " is linked into " +
            (version.empty() ? "a program that " + program + " starts" : program) +
            ", and nothing was captured: the program loads the plugin, but probably does not "
            "export HDF5's functions",
        "link the program with a shared HDF5 1.14 or newer, or with -rdynamic");
  }

  void judge(const std::vector<std::string>& words, const Interception& seen, Captured captured,
             int status) {
    const std::string program = words.front();
    if (status != 0) {
      note(program + " ended with status " + std::to_string(status),
           "run the program without mcr: if the status is the same, mcr is not the cause");
    }
    const std::string missing = why_variables_are_missing(words);
    if (captured == Captured::nothing && !missing.empty())
      return bad("nothing was captured: the ranks do not get the variables of mcr", missing);
    bool is_too_old = false;
    for (const std::string& library : seen.libraries) {
      const std::string version = hdf5_version_in(library);
      const std::string what = library + (version.empty() ? "" : ", HDF5 " + version);
      if (version.starts_with("1.8") || version.starts_with("1.10") || version.starts_with("1.6")) {
        bad(what +
                " knows no connectors: it ignores HDF5_VOL_CONNECTOR without a message and writes "
                "natively",
            "build or load the program with HDF5 1.14 or newer");
      } else if (version.starts_with("1.12") || version.starts_with("1.13")) {
        bad(what +
                " has an older connector interface: it prints an error stack, refuses this plugin "
                "and writes natively",
            "build or load the program with HDF5 1.14 or newer");
        is_too_old = true;
      } else {
        good(what);
        judge_wheel(library);
      }
    }
    // HDF5 loaded the plugin but refused it.
    if (is_too_old && captured == Captured::nothing) return;
    if (seen.linked_in > 0 && captured == Captured::nothing) return judge_linked_in(program);
    if (seen.with_plugin > 0) {
      good("the plugin was loaded in " + std::to_string(seen.with_plugin) + " of " +
           std::to_string(seen.with_hdf5) + " processes with HDF5");
      if (captured == Captured::files) {
        good("files were captured: this program is intercepted");
      } else if (captured == Captured::in_vain) {
        bad("the program is intercepted, but all files that it wrote were written natively: no "
            "container has their data",
            "see the warnings above; MCR_LOG=debug prints why each file is captured or written "
            "natively");
      } else {
        bad("the program is intercepted, but nothing was captured: it created no file, or no file "
            "that the setting files= selects",
            "run a part of the program that writes a checkpoint. files= (`mcr config --describe`) "
            "selects files; by default, with several ranks, those whose name contains the rank. "
            "MCR_LOG=debug prints why each file is captured or written natively");
      }
      return;
    }
    if (seen.with_hdf5 > 0) {
      if (is_healthy()) {
        bad("HDF5 was loaded, but not the plugin: the program opened no file, or it removes "
            "HDF5_VOL_CONNECTOR or " +
                std::string("HDF5_PLUGIN_PATH from its environment, or sets a connector itself"),
            "run a part of the program that writes a checkpoint; check whether its start script "
            "changes these variables");
      }
      return;
    }
    const std::string version = hdf5_version_in(resolve(program));
    if (!version.empty()) {
      bad(program + " has HDF5 " + version +
              " linked into it, and the plugin was not loaded: the program opened no file, or the "
              "C library is linked into it too",
          "link the program with a shared HDF5 1.14 or newer");
    } else if (seen.processes == 0) {
      bad("the dynamic loader logged nothing for " + program +
              ": the program is linked statically, or runs with other rights than yours (setuid)",
          "link the program dynamically, with a shared HDF5 1.14 or newer");
    } else {
      bad("no process of " + program + " on this node loaded HDF5",
          "check the command. If a launcher starts the program on other nodes, set TMPDIR to a "
          "directory that all nodes share");
    }
  }

  /// Says how many files were captured, and why others were not.
  void tell_counts(restart::CaptureCounts counts) {
    const std::uint64_t natives = total_of(counts.natives);
    if (counts.captured > 0 && natives == 0)
      good("all " + restart::counted(counts.captured, "file") + " captured");
    if (natives == 0) return;
    std::string advice = advice_on(counts.natives);
    if (advice.empty()) advice = "nothing, if these files are no checkpoints";
    note(restart::counted(counts.captured, "file") + " captured, " + std::to_string(natives) +
             " written natively: " + reasons_text(counts.natives),
         advice);
  }

  static std::string resolve(const std::string& program) {
    if (program.find('/') != std::string::npos) return program;
    for (const std::string& directory : restart::split_path_list(original_variable("PATH"))) {
      const std::string candidate = directory + "/" + program;
      if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    }
    return program;
  }

  std::vector<Finding> findings_;
};

}  // namespace

RunCommand declare_doctor(CLI::App& app) {
  const auto words = std::make_shared<std::vector<std::string>>();
  app.add_option("CMD", *words, "a program and its arguments, after --; mcr runs the program");
  app.footer("Exit codes: 0 nothing to fix, 1 something to fix; 2 as for every command.");
  return [words](const CommonOptions& common) {
    Doctor doctor;
    doctor.look_at_installation();
    doctor.look_at_settings_and_stage();
    doctor.look_at_node();
    doctor.look_at_gpu();
    if (!words->empty()) {
      const auto looked = doctor.look_at_program(*words, common.json);
      if (!looked) return print_error(common, "doctor", looked.error());
    }
    nlohmann::json list = nlohmann::json::array();
    for (const Finding& finding : doctor.findings()) {
      list.push_back({{"verdict", verdict_name(finding.verdict)},
                      {"what", finding.what},
                      {"remedy", finding.remedy}});
      if (common.json) continue;
      print_line(stdout, "%-5s %s", verdict_name(finding.verdict), finding.what.c_str());
      if (!finding.remedy.empty()) print_line(stdout, "      -> %s", finding.remedy.c_str());
    }
    if (common.json) print_json({{"healthy", doctor.is_healthy()}, {"findings", list}});
    if (words->empty() && !common.json)
      print_line(stdout, "      `mcr doctor -- CMD ARGUMENTS` examines a program");
    return doctor.is_healthy() ? exit_code::success : exit_code::failure;
  };
}

}  // namespace mcr::aggregation
