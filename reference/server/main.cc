// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "server/options.h"
#include "server/server.h"

int main(int argc, char** argv) {
  int exit_code = 0;
  const auto options = kvc::server::parse_options(argc, argv, exit_code);
  return options ? kvc::server::run_server(*options) : exit_code;
}
