// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/cases/testee/testee_cases.h"
#include "conformance/harness/command_line.h"

int main(int argc, char** argv) {
  return kvc::conformance::run_command_line(
      argc, argv, {kvc::conformance::all_cases, kvc::conformance::testee_cases});
}
