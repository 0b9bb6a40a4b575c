// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Envelope: who gets which reply, and what stands in its frames: uid and type come back byte for
// byte, once, to the sender, and a result of None has no frame.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "conformance/cases/lists.h"
#include "conformance/cases/refusals.h"
#include "conformance/cases/stage.h"
#include "conformance/harness/message_text.h"
#include "conformance/harness/release.h"

namespace kvc::conformance {
namespace {

// One reply from the loop and one from a pool: a server may echo in two places.
constexpr RequestType kEchoed[] = {RequestType::kNoop, RequestType::kPing};

// Sends each uid with NOOP and PING; reply_to compares both frames byte for byte.
void expect_echoed(Case& test, const std::vector<Bytes>& uids) {
  Client client = test.client();
  for (const Bytes& uid : uids) {
    for (RequestType type : kEchoed) {
      test.step(fmt::format("{} with a uid frame of {} bytes: {}", to_string(type), uid.size(),
                            frames_hex({uid})));
      const Bytes number = msg::integer(test.registry().find(type)->number);
      client.send_frames({uid, number});
      client.reply_to({uid, number, type});
    }
  }
  client.expect_nothing("requests that have been answered already");
}

void add_uid_cases(CaseList& list) {
  const auto add = [&](const std::string& id, const std::string& claim,
                       const std::vector<Bytes>& uids) {
    list.add({.id = "Envelope." + id,
              .proves = {"envelope.echo-uid"},
              .claim = claim,
              .needs = {},
              .body = [uids](Case& test) { expect_echoed(test, uids); }});
  };
  add("EchoesShortUids", "A uid in its shortest encoding comes back as it was.",
      {msg::integer(0), msg::integer(1), msg::integer(127), msg::integer(128), msg::integer(65536),
       msg::unsigned_integer(std::uint64_t{1} << 32), msg::unsigned_integer(~std::uint64_t{0})});
  std::vector<Bytes> wide = msg::every_width(5);
  wide.erase(wide.begin());
  add("EchoesNonMinimalUids", "A uid in a longer encoding comes back as long as it was.", wide);
  add("EchoesNegativeUids", "A negative uid comes back as it was.",
      {msg::integer(-1), msg::integer(-33), msg::i64(-1), msg::i8(-1)});
  add("EchoesUidsOfAnyKind", "A uid of another kind than int comes back as it was.",
      {msg::str("uid"), msg::str(""), msg::nil(), msg::boolean(true), msg::f64(1.5), msg::bin("b"),
       msg::array({msg::integer(1)}), msg::map({}), msg::ext(1, as_bytes("x"))});
  add("EchoesGarbageUids", "A uid frame that is no msgpack comes back as it was.",
      {msg::never_used(), msg::raw({0xcd, 0x00}), msg::raw({0xff, 0xfe, 0xfd}),
       msg::raw({0x01, 0x02, 0x03}), msg::raw({0xdd, 0xff, 0xff, 0xff, 0xff}),
       to_bytes(as_bytes("no msgpack"))});
  add("EchoesEmptyUid", "An empty uid frame comes back empty.", {Bytes{}});
  Bytes long_uid(std::size_t{1} << 20);
  for (std::size_t i = 0; i < long_uid.size(); ++i)
    long_uid[i] = static_cast<std::uint8_t>(i * 31 >> 3);
  add("EchoesLongUids", "A uid frame of 256 bytes, 64 KiB or 1 MiB comes back whole.",
      {Bytes(256, 0xc1), Bytes(65536, 0x00), long_uid});
}

void add_type_echo(CaseList& list) {
  list.add({.id = "Envelope.EchoesTypeByteForByte",
            .proves = {"envelope.echo-type"},
            .claim = "The type frame comes back in the width in which it was sent.",
            .needs = {},
            .body = [](Case& test) {
              Client client = test.client();
              for (RequestType type : kEchoed) {
                const auto number = static_cast<std::uint64_t>(test.registry().find(type)->number);
                for (const Bytes& frame : msg::every_width(number)) {
                  test.step(fmt::format("{} as {}", to_string(type), to_hex(frame)));
                  const Bytes uid = msg::integer(7);
                  client.send_frames({uid, frame});
                  client.reply_to({uid, frame, type});
                }
              }
              client.expect_nothing("requests that have been answered already");
            }});
}

void add_once_cases(CaseList& list) {
  list.add({.id = "Envelope.RepliesExactlyOnce",
            .proves = {"envelope.one-reply"},
            .claim = "Each of 300 requests is answered once and not again.",
            .needs = {},
            .body = [](Case& test) {
              Client client = test.client();
              constexpr RequestType kTypes[] = {RequestType::kNoop, RequestType::kPing,
                                                RequestType::kGetChunkSize};
              std::vector<Sent> sent;
              for (int i = 0; i < 300; ++i) sent.push_back(client.send(kTypes[i % 3], {}));
              for (const Sent& one : sent) client.reply_to(one);
              client.expect_nothing("requests that have been answered already");
            }});
  list.add({.id = "Envelope.AnswersARepeatedUidEachTime",
            .proves = {"envelope.one-reply"},
            .claim = "Ten requests with one and the same uid get ten replies.",
            .needs = {},
            .body = [](Case& test) {
              Client client = test.client();
              const Bytes uid = msg::integer(9);
              const Bytes number = msg::integer(test.registry().find(RequestType::kNoop)->number);
              for (int i = 0; i < 10; ++i) client.send_frames({uid, number});
              for (int i = 0; i < 10; ++i) client.reply_to({uid, number, RequestType::kNoop});
              client.expect_nothing("ten requests that have been answered ten times");
            }});
  list.add({.id = "Envelope.AnswersARepeatedUidOfBlockingRequests",
            .proves = {"envelope.one-reply"},
            .claim = "100 END_SESSIONs with one and the same uid, sent before any is answered, get "
                     "100 replies.",
            .needs = {},
            .body = [](Case& test) {
              constexpr RequestType kType = RequestType::kEndSession;
              constexpr int kCount = 100;
              Client client = test.client();
              const Bytes uid = msg::integer(9);
              const Bytes number = msg::integer(test.registry().find(kType)->number);
              const Bytes nobody = msg::str(test.unique("nobody"));
              for (int i = 0; i < kCount; ++i) client.send_frames({uid, number, nobody});
              for (int i = 0; i < kCount; ++i) client.reply_to({uid, number, kType});
              client.expect_nothing("requests that have been answered already");
            }});
  list.add({.id = "Envelope.RepliesToTheSenderOnly",
            .proves = {"envelope.to-sender"},
            .claim = "Of eight clients that use the same uids each gets the answers to its own "
                     "requests and no other.",
            .needs = {},
            .body = [](Case& test) {
              // Client i asks i+1 times; the even ones NOOP, the odd ones PING.
              std::vector<Client> clients;
              for (int i = 0; i < 8; ++i) clients.push_back(test.client());
              std::vector<std::vector<Sent>> sent(clients.size());
              for (std::size_t round = 0; round < clients.size(); ++round)
                for (std::size_t i = round; i < clients.size(); ++i)
                  sent[i].push_back(
                      clients[i].send(i % 2 == 0 ? RequestType::kNoop : RequestType::kPing, {}));
              for (std::size_t i = 0; i < clients.size(); ++i) {
                for (const Sent& one : sent[i]) {
                  const Reply reply = clients[i].reply_to(one);
                  if (i % 2 == 0)
                    test.expect_equal(clients[i].result<std::string>(reply), std::string("OK"),
                                      "NOOP's result");
                  else
                    test.expect_equal(clients[i].result<bool>(reply), true, "PING's result");
                }
              }
              for (Client& client : clients) client.expect_nothing("another client's requests");
            }});
}

// A thousand requests that are in flight at once, so that a mix-up has room.
void interleave(Case& test) {
  struct Pending {
    std::size_t client;
    Sent sent;
  };
  constexpr RequestType kTypes[] = {RequestType::kNoop, RequestType::kPing,
                                    RequestType::kGetChunkSize, RequestType::kEndSession,
                                    RequestType::kQueryPrefetchStatus};
  for (const RequestType type : kTypes) require_type(test.registry(), type);
  std::vector<Client> clients;
  for (int i = 0; i < 8; ++i) clients.push_back(test.client());
  const Bytes request_id = msg::str(test.unique("nobody"));
  std::set<std::uint64_t> used;
  std::vector<Pending> pending;
  for (std::size_t i = 0; i < 1000; ++i) {
    std::uint64_t uid = test.random()();
    while (!used.insert(uid).second) uid = test.random()();
    const RequestType type = kTypes[test.random()() % std::size(kTypes)];
    Sent sent{msg::u64(uid), msg::integer(test.registry().find(type)->number), type};
    Frames frames = {sent.uid, sent.type};
    if (!test.registry().find(type)->payloads.empty()) frames.push_back(request_id);
    const std::size_t client = test.random()() % clients.size();
    clients[client].send_frames(frames);
    pending.push_back({client, sent});
  }
  std::shuffle(pending.begin(), pending.end(), test.random());
  for (const Pending& one : pending) {
    Client& client = clients[one.client];
    const Reply reply = client.reply_to(one.sent);
    switch (one.sent.request_type) {
      case RequestType::kNoop:
        test.expect_equal(client.result<std::string>(reply), std::string("OK"), "NOOP's result");
        break;
      case RequestType::kPing:
        test.expect_equal(client.result<bool>(reply), true, "PING's result");
        break;
      case RequestType::kGetChunkSize:
        test.expect_equal(client.result<Int>(reply), Int(test.chunk_size()), "the chunk size");
        break;
      case RequestType::kEndSession:
        client.result<None>(reply);
        break;
      default:
        test.expect_equal(client.result<Int>(reply), Int(0), "the status of an unknown request");
    }
  }
  for (Client& client : clients) client.expect_nothing("requests that have been answered already");
}

void add_none_cases(CaseList& list, const Registry& registry) {
  for (const Definition& definition : registry.definitions()) {
    if (definition.result != WireType::kNone) continue;
    list.add(
        {.id = fmt::format("Envelope.{}_AnswersWithoutAResultFrame", to_string(definition.type)),
         .proves = {"envelope.none-has-no-frame"},
         .claim = fmt::format("{} answers None: uid and type, and no third frame.",
                              to_string(definition.type)),
         .needs = capabilities_of(definition.type),
         .body = [type = definition.type](Case& test) {
           Stage stage(test);
           Client client = test.client();
           const Reply reply = client.reply_to(client.send(type, stage.valid(type)));
           test.expect(reply.frames.size() == 2, "two frames",
                       describe_response(test.registry(), reply.frames));
         }});
  }
  list.add({.id = "Envelope.AResultStandsInOneFrame",
            .proves = {"envelope.result-frame"},
            .claim = "A result that is not None stands in exactly one frame behind the type.",
            .needs = {},
            .body = [](Case& test) {
              Client client = test.client();
              for (RequestType type :
                   {RequestType::kNoop, RequestType::kPing, RequestType::kGetChunkSize}) {
                const Reply reply = client.reply_to(client.send(type, {}));
                test.expect(reply.frames.size() == 3, "three frames",
                            describe_response(test.registry(), reply.frames));
              }
            }});
}

}  // namespace

void add_envelope_cases(CaseList& list, const Registry& registry) {
  add_uid_cases(list);
  add_type_echo(list);
  add_once_cases(list);
  list.add({.id = "Envelope.Interleaves1000RequestsOf8Clients",
            .proves = {"envelope.one-reply", "envelope.to-sender", "envelope.echo-uid"},
            .claim =
                "1000 requests of five types from eight clients with shuffled 64-bit uids each "
                "get their own answer, once.",
            .needs = {},
            .body = interleave});
  add_none_cases(list, registry);
}

}  // namespace kvc::conformance
