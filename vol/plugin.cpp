// SPDX-License-Identifier: BSD-3-Clause
// The two functions that HDF5 looks up in a plugin, and the only exported symbols. HDF5 calls them
// for every plugin on its path, also in any program whose open failed. So in programs that did not
// choose this connector, they log nothing and only look at the caller.
#include "restart/settings/launcher.hpp"
#include "vol/binding/error_stack.hpp"
#include "vol/binding/host_hdf5.hpp"
#include "vol/connector/connector.hpp"
#include "vol/process/info_string.hpp"
#include "vol/process/job_warnings.hpp"

namespace mcr::vol {
namespace {

// Reports why the plugin was refused, because HDF5 only says that it found no plugin of that name.
// Says nothing if the environment does not name this connector.
void say_refusal(const void* caller) {
  if (!is_named_by_environment()) return;
  const std::string file = host_file(caller);
  const std::string what = file.empty() ? "the HDF5 linked into this program" : file;
  warn_once_in_job(restart::find_launcher({}), "nothing is captured",
                   "nothing is captured, files are written natively: " + what +
                       " does not export its functions, or is older than 1.14; use a shared "
                       "HDF5 of 1.14 or newer, or link the program with -rdynamic");
}

const void* class_for(const void* caller) {
  switch (bind_host(caller)) {
    case Binding::bound: {
      // HDF5 looks for plugins after an open has failed. The error stack tells the program why, so
      // it must not change.
      const KeptErrors kept;
      const void* const found = connector_class();
      if (found == refused_class()) say_refusal(caller);
      return found;
    }
    case Binding::other:
      if (const void* copied = private_copy_plugin_info(caller)) return copied;
      break;
    case Binding::refused:
      say_refusal(caller);
      break;
  }
  return refused_class();
}

}  // namespace
}  // namespace mcr::vol

// H5PLextern.h would declare both without visibility.
extern "C" {

__attribute__((visibility("default"))) H5PL_type_t H5PLget_plugin_type() { return H5PL_TYPE_VOL; }

__attribute__((visibility("default"))) const void* H5PLget_plugin_info() {
  const void* caller = __builtin_return_address(0);
  try {
    return mcr::vol::class_for(caller);
  } catch (...) {
    return mcr::vol::refused_class();
  }
}
}
