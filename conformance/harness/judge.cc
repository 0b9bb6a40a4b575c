// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/judge.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <zmq.hpp>

namespace kvc::conformance {
namespace {

Finding harness_fault(const std::string& what) {
  return {Verdict::kHarness, "the harness can carry out the case", what, ""};
}

// What only the run's own --device decides is no lack of the server's.
std::string lack_in_words(Capability need, RunContext& context) {
  const Device* const device = context.device_or_null();
  const bool on_gpu = device != nullptr && device->name() == "cuda";
  if (need == Capability::kCudaDevice && !on_gpu)
    return "the run plays its engines on no GPU (--device cuda)";
  if (need == Capability::kHostDevice && on_gpu)
    return "the run plays its engines on a GPU, and not on the host device";
  return "the server lacks " + std::string(to_string(need));
}

}  // namespace

std::optional<std::string> Judge::make_ready(const CaseSpec& spec) {
  if (!out_of_service_.empty()) return out_of_service_;
  if (!dead_) {
    const std::optional<std::string> death = subject_.death(context_);
    if (!death) return std::nullopt;
    late_deaths_.push_back(fmt::format("the {} was found dead before {}{}: {}", subject_.noun(),
                                       spec.id, last_case_.empty() ? "" : ", after " + last_case_,
                                       *death));
    dead_ = true;
  }
  if (!subject_.can_restart()) {
    out_of_service_ = "the server is dead, and kvconform did not start it (see --start)";
    return out_of_service_;
  }
  try {
    subject_.start(context_);
    dead_ = false;
    return std::nullopt;
  } catch (const ServerError& error) {
    out_of_service_ =
        fmt::format("the {} cannot be started again: {}", subject_.noun(), error.what());
    return out_of_service_;
  }
}

Verdict Judge::run_body(const CaseSpec& spec, Finding& finding) {
  try {
    Case test(context_);
    spec.body(test);
    return Verdict::kPass;
  } catch (const Finding& found) {
    finding = found;
  } catch (const Interrupted&) {
    throw;
  } catch (const zmq::error_t& error) {
    finding = harness_fault(fmt::format("ZeroMQ: {}", error.what()));
  } catch (const std::exception& error) {
    finding = harness_fault(fmt::format("an exception: {}", error.what()));
  }
  if (finding.note.empty()) finding.note = context_.step();
  return finding.verdict;
}

void Judge::probe_after(CaseResult& result) {
  if (result.verdict == Verdict::kDead || subject_.is_down()) {
    dead_ = true;
    return;
  }
  const std::optional<std::string> death = subject_.death(context_);
  if (!death) return;
  dead_ = true;
  std::string actual = *death;
  if (result.verdict != Verdict::kPass)
    actual += fmt::format("; before that: expected {}, and was {}", result.finding.expected,
                          result.finding.actual);
  result.finding = {Verdict::kDead, "the " + subject_.noun() + " serves on after the case", actual,
                    result.finding.note};
  result.verdict = Verdict::kDead;
}

CaseResult Judge::judge(const CaseSpec& spec) {
  CaseResult result;
  result.spec = spec;
  const auto not_run = [&](const std::string& why) {
    result.not_run = true;
    result.finding = {Verdict::kSkipped, "the case is run", why, ""};
    return result;
  };
  for (const Capability need : spec.needs) {
    if (capabilities_.has(need)) continue;
    result.verdict = Verdict::kSkipped;
    result.finding = {Verdict::kSkipped, "the server has " + std::string(to_string(need)),
                      lack_in_words(need, context_), ""};
    return result;
  }
  try {
    if (context_.interrupted()) throw Interrupted{};
    context_.begin_case(spec.id);
    if (const auto why = make_ready(spec)) return not_run(*why);
    context_.begin_case(spec.id);  // the probe is not part of the case
    last_case_ = spec.id;
    const auto start = std::chrono::steady_clock::now();
    result.verdict = run_body(spec, result.finding);
    try {
      probe_after(result);
    } catch (const std::exception& error) {
      result.verdict = Verdict::kHarness;
      result.finding = harness_fault(fmt::format("the probe after it: {}", error.what()));
    }
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    result.duration_ms = took.count();
  } catch (const Interrupted&) {
    return not_run("the run was ended first: a signal came, or --budget-s was spent");
  }
  const bool is_to_show = result.verdict != Verdict::kPass && result.verdict != Verdict::kSkipped;
  if (is_to_show) result.trace = context_.trace().entries();
  return result;
}

}  // namespace kvc::conformance
