// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/doctor/doctor_command.h"

#include "conformance/doctor/machine_checks.h"
#include "conformance/doctor/target_checks.h"
#include "conformance/harness/run_options.h"
#include "kvc/device/host_device.h"

namespace kvc::conformance {

CLI::App* add_doctor(CLI::App& app, DoctorOptions& options) {
  CLI::App* doctor = app.add_subcommand("doctor", "Say what this machine and a server can do");
  doctor->add_option("--target", options.target, "Look at the server at this endpoint too")
      ->type_name("ENDPOINT");
  doctor->add_option("--release", options.release, "Release of the protocol")
      ->capture_default_str();
  auto* quick = doctor->add_flag("--quick", options.quick,
                                 "Only whether the server answers NOOP: a health check");
  quick->needs("--target");
  doctor->add_option("--timeout-ms", options.timeout_ms, "Wait so long for a reply")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  doctor->footer(
      "Exit codes: 0 nothing is wrong (what is absent is told, with what it costs); 1 something "
      "is; 2 it was\nused wrongly.\n\n"
      "  kvconform doctor\n"
      "  kvconform doctor --target tcp://127.0.0.1:5555");
  return doctor;
}

int doctor_command(const DoctorOptions& options, std::ostream& out) {
  bool wrong = false;
  if (!options.quick) {
    const CheckList machine = check_machine();
    out << in_words(machine);
    wrong = machine.any_wrong();
  }
  if (!options.target.empty()) {
    RunSettings settings;
    settings.timeout = std::chrono::milliseconds(options.timeout_ms);
    settings.probe_timeout = settings.timeout;
    RunContext context(registry_named(options.release), settings);
    context.set_endpoint(options.target);
    if (!options.quick && !wrong) context.set_device(create_host_device("kvconform"));
    const CheckList target = check_target(context, options.quick);
    out << in_words(target);
    wrong = wrong || target.any_wrong();
  }
  return wrong ? 1 : 0;
}

}  // namespace kvc::conformance
