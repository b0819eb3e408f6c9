// SPDX-License-Identifier: BSD-3-Clause
// How a rank asks for a part that another node's stage holds: by files beside the containers of the
// part's set, which both nodes see. The part's leader looks for one name only, the bell; where that
// is there, it takes it away and looks for requests of the parts that it holds.
//
//   set-asked.<node>.<launch>              the bell: rung after the request is there
//   set-request.<part>.native              the part shall become a native file: it will be written
//   set-request.<part>.container           the part shall be committed at once: it will be read
//
// Who asks rings again for as long as he waits, and takes his request away in the end; so no order
// of deaths leaves anybody waiting longer than he said, and at worst an empty file.
#pragma once

#include <optional>
#include <string>

#include "restart/base/part_id.hpp"

namespace mcr::restart {

enum class PartWish { native, container };

class PartRequest {
 public:
  /// Nothing is done yet. `directory`: where containers of the part's set go; made where missing.
  PartRequest(std::string directory, const std::string& node, const std::string& launch,
              const PartId& part, PartWish wish);
  /// Takes the request away.
  ~PartRequest();
  PartRequest(const PartRequest&) = delete;
  PartRequest& operator=(const PartRequest&) = delete;

  /// Leaves the request where it is not there, and rings. To be repeated while waiting. Storage may
  /// refuse: then the part's leader does in its own time what it would have done anyway.
  void ring();

 private:
  std::string directory_;
  std::string bell_;
  std::string request_;
  bool made_directory_ = false;
};

/// For the leader: true where somebody rang since the last call.
bool take_bell(const std::string& directory, const std::string& node, const std::string& launch);
/// What is asked for the part; native outweighs container.
std::optional<PartWish> find_request(const std::string& directory, const PartId& part);

}  // namespace mcr::restart
