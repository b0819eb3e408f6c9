// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/remove_tree.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "restart/base/system.hpp"

namespace mcr::restart {

Result<void> remove_tree(int directory, const std::string& name) {
  if (system_calls().unlinkat(directory, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  const File inside = MCR_TRY(File::open(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  for (const std::string& entry : MCR_TRY(list_directory(inside.descriptor(), ".")))
    MCR_TRY(remove_tree(inside.descriptor(), entry));
  if (system_calls().unlinkat(directory, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT)
    return system_error("cannot remove", name);
  return {};
}

}  // namespace mcr::restart
