// SPDX-License-Identifier: BSD-3-Clause
// The headers that cost each file of the command seconds to read. Compiled once (precompiled header); every file
// includes what it needs all the same.
#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>
