// SPDX-License-Identifier: BSD-3-Clause
// Decides which backend the file at a path needs: native bytes, a part that this process is
// writing, a part in the stage or in a container, or a new part.
#pragma once

#include <memory>
#include <string>

#include "restart/format/part_source.hpp"
#include "restart/format/stub.hpp"
#include "vol/capture/backend.hpp"
#include "vol/driver/swmr_role.hpp"

namespace mcr::vol {

class CapturePlan;

struct OpenRequest {
  std::string name;  ///< as the program gave it
  bool writable = false;
  bool writes_path = false;  ///< writable, and writes go to the path
  bool create = false;
  bool truncate = false;
  bool exclusive = false;
  SwmrRole swmr = SwmrRole::none;
  bool ignore_disabled_locks = false;
  const CapturePlan* plan = nullptr;  ///< for a new file: how it is captured
};

/// While an object of this class lives and `is_found` is true, HDF5 uses this connector only because its search
/// for plugins found it. The program's opens of native files then do not come here.
class SearchScope {
 public:
  explicit SearchScope(bool is_found);
  ~SearchScope();
  SearchScope(const SearchScope&) = delete;
  SearchScope& operator=(const SearchScope&) = delete;

 private:
  bool before_;
};

/// Opens the path. Cause::system with an empty message (errno in system_error): open(2) refused the
/// file, as it would have refused it to native HDF5.
Result<std::unique_ptr<Backend>> open_path(const OpenRequest& request);

/// True if a stub, whole or not, lies at the path. Logs nothing.
bool is_stub_path(const char* name);

}  // namespace mcr::vol
