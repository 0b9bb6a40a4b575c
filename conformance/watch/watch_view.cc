// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/watch/watch_view.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace kvc::conformance {
namespace {

using Json = nlohmann::ordered_json;

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// "830 us", "12.4 ms"
std::string duration(double us) {
  if (us < 1000) return fmt::format("{:.0f} us", us);
  if (us < 1e6) return fmt::format("{:.1f} ms", us / 1000);
  return fmt::format("{:.1f} s", us / 1e6);
}

std::string plural(std::uint64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

std::string fault_line(const TrafficFault& fault) {
  const std::string who = fault.client == 0 ? std::string(to_string(fault.side))
                                            : fmt::format("client {}", fault.client);
  std::string out =
      fmt::format("{:>10.1f} ms  {}  {}'s {}: {}  [{}]\n", fault.t_ms, who, to_string(fault.side),
                  fault.note ? "note" : "fault", fault.what, fault.rule);
  if (!fault.message.empty())
    out += fmt::format("               {}\n               {}\n", fault.message, fault.frames);
  return out;
}

std::string fault_json(const TrafficFault& fault) {
  return line_of({{"event", fault.note ? "note" : "fault"},
                  {"t_ms", fault.t_ms},
                  {"client", fault.client},
                  {"side", to_string(fault.side)},
                  {"rule", fault.rule},
                  {"what", fault.what},
                  {"message", fault.message},
                  {"frames", fault.frames}});
}

std::string traffic_table(const TrafficJudge& judge) {
  std::string out =
      fmt::format("{:<28}{:>10}{:>10}{:>9}{:>9}{:>9}{:>10}{:>10}{:>10}\n", "type", "requests",
                  "replies", "pending", "overdue", "illegal", "p50", "p99", "max");
  for (const auto& [type, row] : judge.rows())
    out += fmt::format("{:<28}{:>10}{:>10}{:>9}{:>9}{:>9}{:>10}{:>10}{:>10}\n", to_string(type),
                       row.requests, row.replies, row.pending, row.overdue, row.illegal,
                       duration(row.latency.percentile(0.5)),
                       duration(row.latency.percentile(0.99)), duration(row.latency.max_us()));
  return out;
}

std::string summary_text(const TrafficJudge& judge, const WatchTotals& totals) {
  const std::uint64_t clients = judge.num_faults(Side::kClient);
  const std::uint64_t servers = judge.num_faults(Side::kServer);
  std::string out = traffic_table(judge);
  out += fmt::format("\n{} of {} in {:.1f} s; {} that had to be dropped\n",
                     plural(judge.num_messages(), "message"), plural(totals.num_clients, "client"),
                     totals.time_ms / 1000, plural(judge.num_illegal(), "message"));
  if (totals.num_lost > 0)
    out += fmt::format("replies not delivered: {}; the client was gone or did not read\n",
                       totals.num_lost);
  out += clients + servers == 0
             ? "no fault\n"
             : fmt::format("{} of the server, {} of clients\n", plural(servers, "fault"), clients);
  return out;
}

std::string summary_json(const TrafficJudge& judge, const WatchTotals& totals) {
  Json types = Json::object();
  for (const auto& [type, row] : judge.rows())
    types[std::string(to_string(type))] = {{"requests", row.requests},
                                           {"replies", row.replies},
                                           {"pending", row.pending},
                                           {"overdue", row.overdue},
                                           {"illegal", row.illegal},
                                           {"p50_us", row.latency.percentile(0.5)},
                                           {"p99_us", row.latency.percentile(0.99)},
                                           {"max_us", row.latency.max_us()}};
  return line_of({{"event", "summary"},
                  {"time_ms", totals.time_ms},
                  {"clients", totals.num_clients},
                  {"messages", judge.num_messages()},
                  {"illegal", judge.num_illegal()},
                  {"lost", totals.num_lost},
                  {"server_faults", judge.num_faults(Side::kServer)},
                  {"client_faults", judge.num_faults(Side::kClient)},
                  {"types", types}});
}

}  // namespace kvc::conformance
