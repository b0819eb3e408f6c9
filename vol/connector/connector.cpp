// SPDX-License-Identifier: BSD-3-Clause
// The callbacks that we replace: settings (info), calls on files, introspection, begin and end. All
// others are the native connector's.
#include "vol/connector/connector.hpp"

#include "restart/base/log.hpp"
#include "restart/base/spare_numbers.hpp"
#include "vol/binding/guard.hpp"
#include "vol/binding/id.hpp"
#include "vol/connector/file_calls.hpp"
#include "vol/connector/link_access.hpp"
#include "vol/process/info_string.hpp"
#include "vol/process/process.hpp"

namespace mcr::vol {

namespace {

constinit H5VL_class_t own{};
constinit bool is_made = false;
// A version that no HDF5 has: 1.12 counts its classes from 0, 1.14 and 2.x have 3.
constexpr unsigned no_version = ~0U;
constinit const H5VL_class_t refused = [] {
  H5VL_class_t refused_class{};
  refused_class.version = no_version;
  refused_class.value = connector_value;
  refused_class.name = connector_name;
  return refused_class;
}();

herr_t initialize(hid_t) { return 0; }

herr_t terminate() {
  if (Process* process = Process::if_made()) process->end();
  return 0;
}

// HDF5 asks for the terminal class to find out whether an object is the native connector's. All our
// objects are, so the answer is the native class.
herr_t connector_class_of(void*, H5VL_get_conn_lvl_t level, const H5VL_class_t** found) {
  *found = level == H5VL_GET_CONN_LVL_TERM ? &native_class() : &own;
  return 0;
}

}  // namespace

const H5VL_class_t* connector_class() {
  if (is_made) return &own;
  const H5VL_class_t* const native = find_native_class();
  if (native == nullptr) return &refused;
  is_made = true;
  restart::spare_numbers_of_program();
  restart::look_for_stderr();
  own = *native;
  own.value = connector_value;
  own.name = connector_name;
  own.conn_version = 1;
  own.initialize = guarded<&initialize>;
  own.terminate = guarded<&terminate>;
  own.info_cls = info_callbacks();
  own.introspect_cls.get_conn_cls = guarded<&connector_class_of>;
  follow_links_with_driver(own);
  own.file_cls.create = guarded<&file_create>;
  own.file_cls.open = guarded<&file_open>;
  own.file_cls.get = guarded<&file_get>;
  own.file_cls.specific = guarded<&file_specific>;
  own.file_cls.optional = guarded<&file_optional>;
  return &own;
}

const H5VL_class_t* refused_class() { return &refused; }

}  // namespace mcr::vol
