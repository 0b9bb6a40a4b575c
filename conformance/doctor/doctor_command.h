// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// `kvconform doctor`: what this machine and a server can do, before anything is judged.
#pragma once

#include <CLI/CLI.hpp>
#include <ostream>
#include <string>

namespace kvc::conformance {

struct DoctorOptions {
  std::string target;  // empty: this machine only
  std::string release = "0.4.5";
  bool quick = false;
  int timeout_ms = 2000;
};

CLI::App* add_doctor(CLI::App& app, DoctorOptions& options);

// Exit code 0: nothing is wrong (though things may be absent); 1: something is.
int doctor_command(const DoctorOptions& options, std::ostream& out);

}  // namespace kvc::conformance
