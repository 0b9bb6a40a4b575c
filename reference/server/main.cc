// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include <iostream>

#include "server/options.h"
#include "server/server.h"
#include "server/testee.h"

int main(int argc, char** argv) {
  int exit_code = 0;
  const auto options = kvc::server::parse_options(argc, argv, exit_code);
  if (!options) return exit_code;
  if (options->testee) return kvc::server::run_testee(std::cin, std::cout, std::cerr);
  return kvc::server::run_server(*options);
}
