// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Observability: REPORT_BLOCK_ALLOCATION is sent by an engine at every step. It tells the server
// something and changes nothing, whoever sends it and however much.
#include <fmt/format.h>

#include "conformance/cases/lists.h"
#include "conformance/cases/refusals.h"
#include "conformance/cases/stage.h"
#include "conformance/harness/engine_player.h"

namespace kvc::conformance {
namespace {

Bytes record(const std::string& request_id, std::size_t num_blocks, std::size_t num_tokens) {
  return msg::map(
      {{msg::str("req_id"), msg::str(request_id)},
       {msg::str("new_block_ids"), msg::array(std::vector<Bytes>(num_blocks, msg::integer(70000)))},
       {msg::str("new_token_ids"),
        msg::array(std::vector<Bytes>(num_tokens, msg::integer(100000)))}});
}

Sent report(Client& client, const std::string& model, const std::vector<Bytes>& records) {
  return client.send(RequestType::kReportBlockAllocation,
                     {msg::integer(424242), msg::str(model), msg::array(records)});
}

void changes_no_cache_state(Case& test) {
  EnginePlayer engine(test, EngineShape{}, test.unique("report"));
  engine.register_kv_cache();
  const std::vector<std::uint32_t> tokens = engine.fresh_tokens(2 * test.chunk_size());
  const std::string request_id = test.unique("request");
  const Key key = engine.key(tokens, request_id);
  std::vector<std::int64_t> blocks;
  for (std::size_t i = 0; i < 2 * test.chunk_size() / 16; ++i)
    blocks.push_back(static_cast<std::int64_t>(i));
  test.expect_equal(engine.store(key, blocks).ok, true, "STORE's success");

  Client other = test.client();
  const auto report_all = [&] {
    for (const std::string& model : {engine.model_name(), test.unique("nobody")})
      other.reply_to(report(other, model, {record(request_id, 64, tokens.size())}));
  };
  report_all();
  test.expect_equal(engine.lookup(key), Int(2), "chunks found after the report");
  report_all();  // the two chunks are locked now
  test.expect_equal(engine.retrieve(key, blocks).ok, true, "RETRIEVE's success after the report");
  report_all();
  engine.end_session(request_id);
  report_all();
  test.expect_equal(engine.lookup(key), Int(2), "chunks found at the end");
  engine.free_locks(key);
  engine.unregister_kv_cache();
}

}  // namespace

void add_observability_cases(CaseList& list, const Registry&) {
  list.add({.id = "Observability.ReportOfAnUnknownInstanceAnswers",
            .proves = {"observability.report"},
            .claim = "A report of an instance, a model and requests that nobody knows is answered.",
            .needs = {},
            .body = [](Case& test) {
              Client client = test.client();
              client.reply_to(report(client, test.unique("nobody"), {record("unknown", 1, 1)}));
            }});
  list.add({.id = "Observability.EmptyReportAnswers",
            .proves = {"observability.report"},
            .claim = "A report of no record, and of a record of nothing, is answered.",
            .needs = {},
            .body = [](Case& test) {
              Client client = test.client();
              client.reply_to(report(client, "", {}));
              client.reply_to(report(client, "model", {record("", 0, 0)}));
            }});
  list.add({.id = "Observability.HugeReportAnswers",
            .proves = {"observability.report"},
            .claim = "A report of 10,000 records, and one of 200,000 ids, is answered.",
            .needs = {},
            .body = [](Case& test) {
              Client client = test.client();
              client.reply_to(
                  report(client, "model", std::vector<Bytes>(10000, record("request", 2, 2))));
              client.reply_to(report(client, "model", {record("request", 100000, 100000)}));
            }});
  list.add(
      {.id = "Observability.ManyReportsDoNotHoldUpSync",
       .proves = {"observability.report", "handlers.blocking-delays-no-sync"},
       .claim = "Behind 500 reports a NOOP of another client is answered, and so is each report.",
       .needs = {},
       .body = [](Case& test) {
         Client reporter = test.client();
         Client other = test.client();
         std::vector<Sent> sent;
         for (int i = 0; i < 500; ++i)
           sent.push_back(report(reporter, "model", {record("request", 16, 16)}));
         other.call<std::string>(RequestType::kNoop);
         for (const Sent& one : sent) reporter.reply_to(one);
       }});
  list.add({.id = "Observability.ReportChangesNoCacheState",
            .proves = {"observability.changes-nothing"},
            .claim = "Reports about a request change neither what is found nor what is locked.",
            .needs = {Capability::kDevice},
            .body = changes_no_cache_state});
}

}  // namespace kvc::conformance
