// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Robustness: whatever one peer sends, or however it goes away, the others are served. Each case
// ends with a request of a client that was there before, of the same client, and of a new one.
#include <fmt/format.h>

#include <algorithm>
#include <zmq.hpp>

#include "conformance/cases/lists.h"
#include "conformance/cases/raw_socket.h"
#include "conformance/cases/refusals.h"
#include "conformance/cases/stage.h"
#include "conformance/harness/release.h"
#include "conformance/harness/run_context.h"

namespace kvc::conformance {
namespace {

using Messages = std::function<std::vector<Frames>(Case&, Stage&)>;

Bytes random_bytes(Case& test, std::size_t size_max) {
  Bytes out(test.random()() % (size_max + 1));
  for (std::uint8_t& byte : out) byte = static_cast<std::uint8_t>(test.random()());
  return out;
}

Bytes type_frame(Case& test, RequestType type) {
  require_type(test.registry(), type);
  return msg::integer(test.registry().find(type)->number);
}

// Sends it all from one client; then that client, one from before and a new one are served.
void survive(Case& test, const Messages& messages, const std::string& what) {
  Client bystander = test.client();
  bystander.call<std::string>(RequestType::kNoop);
  Stage stage(test);
  Client client = test.client();
  for (const Frames& frames : messages(test, stage)) client.send_frames(frames);
  client.fence();
  bystander.call<std::string>(RequestType::kNoop);
  bystander.call<bool>(RequestType::kPing);
  test.expect_alive(what);
}

void add(CaseList& list, const std::string& id, const std::string& requirement,
         const std::string& claim, const std::string& what, const Messages& messages) {
  list.add({.id = "Robustness." + id,
            .proves = {requirement, "robustness.one-client-stops-nobody"},
            .claim = claim,
            .needs = {},
            .body = [=](Case& test) { survive(test, messages, what); }});
}

std::vector<Frames> junk_payloads(Case& test, Stage&) {
  std::vector<Frames> out;
  for (int i = 0; i < 1000; ++i) {
    const auto rows = test.registry().definitions();
    const Definition& row = rows[test.random()() % rows.size()];
    Frames frames = {random_bytes(test, 9), msg::integer(row.number)};
    if (row.payloads.empty()) frames.emplace_back();
    for (std::size_t k = 0; k < row.payloads.size(); ++k) frames.push_back(random_bytes(test, 40));
    out.push_back(std::move(frames));
  }
  return out;
}

std::vector<Frames> junk_messages(Case& test, Stage&) {
  std::vector<Frames> out;
  for (int i = 0; i < 1000; ++i) {
    Frames frames(1 + test.random()() % 8);
    for (Bytes& frame : frames) frame = random_bytes(test, 24);
    out.push_back(std::move(frames));
  }
  return out;
}

// One honest request after the other, with a bit flipped in a payload.
std::vector<Frames> flipped_bits(Case& test, Stage& stage) {
  std::vector<Frames> out;
  constexpr RequestType kTypes[] = {RequestType::kLookup,
                                    RequestType::kQueryPrefetchStatus,
                                    RequestType::kFreeLookupLocks,
                                    RequestType::kEndSession,
                                    RequestType::kReportBlockAllocation,
                                    RequestType::kUnregisterKvCache};
  for (int i = 0; i < 600; ++i) {
    const RequestType type = kTypes[test.random()() % std::size(kTypes)];
    Frames frames = stage.valid(type);
    Bytes& payload = frames[test.random()() % frames.size()];
    payload[test.random()() % payload.size()] ^=
        static_cast<std::uint8_t>(1U << (test.random()() % 8));
    frames.insert(frames.begin(), {msg::integer(i), type_frame(test, type)});
    out.push_back(std::move(frames));
  }
  return out;
}

std::vector<Frames> huge_frames(Case& test, Stage&) {
  const Bytes payload(std::size_t{64} << 20, 0xc1);
  const Bytes uid(std::size_t{8} << 20, 0xc1);  // less: it comes back if the payload is good
  return {{msg::integer(1), type_frame(test, RequestType::kLookup), payload, msg::integer(1)},
          {uid, type_frame(test, RequestType::kEndSession), msg::integer(1)}};
}

std::vector<Frames> deep_nesting(Case& test, Stage& stage) {
  std::vector<Frames> out;
  for (std::size_t depth : {1000U, 30000U, 1000000U}) {
    for (const Bytes& deep : {msg::nested_arrays(depth), msg::nested_maps(depth)}) {
      const Bytes type = type_frame(test, RequestType::kLookup);
      out.push_back({msg::integer(1), type, deep, msg::integer(1)});
      // As the value of an unknown field, which a reader has to skip.
      std::vector<msg::Pair> pairs = {{msg::str("unknown"), deep}};
      for (const Field& field : stage.fields(RequestType::kLookup, 0))
        pairs.emplace_back(msg::str(field.name), field.valid);
      out.push_back({msg::integer(2), type, msg::map(pairs), msg::integer(1)});
      out.push_back({msg::integer(3), type_frame(test, RequestType::kReportBlockAllocation),
                     msg::integer(1), msg::str("m"), deep});
    }
  }
  return out;
}

std::vector<Frames> many_frames(Case& test, Stage&) {
  std::vector<Frames> out;
  for (std::size_t count : {1000U, 10000U}) {
    for (RequestType type : {RequestType::kNoop, RequestType::kPing, RequestType::kLookup,
                             RequestType::kRegisterKvCache}) {
      Frames frames = {msg::integer(1), type_frame(test, type)};
      frames.insert(frames.end(), count, msg::integer(1));
      out.push_back(std::move(frames));
    }
  }
  return out;
}

std::vector<Frames> lying_lengths(Case& test, Stage& stage) {
  const std::vector<Bytes> lies = {msg::array32_header(0xffffffff),
                                   msg::map32_header(0xffffffff),
                                   msg::raw({0xdb, 0xff, 0xff, 0xff, 0xff}),
                                   msg::raw({0xc6, 0xff, 0xff, 0xff, 0xff}),
                                   msg::raw({0xc9, 0xff, 0xff, 0xff, 0xff, 0x01}),
                                   msg::array16_header(0xffff),
                                   msg::array({msg::raw({0xc9, 0x7f, 0xff, 0xff, 0xff, 0x01})})};
  std::vector<Frames> out;
  for (const Definition& row : test.registry().definitions()) {
    for (std::size_t i = 0; i < row.payloads.size(); ++i) {
      for (const Bytes& lie : lies) {
        Frames frames = {msg::integer(1), msg::integer(row.number)};
        frames.insert(frames.end(), row.payloads.size(), msg::integer(1));
        frames[2 + i] = lie;
        out.push_back(std::move(frames));
      }
    }
  }
  std::vector<msg::Pair> pairs;
  for (const Field& field : stage.fields(RequestType::kLookup, 0))
    pairs.emplace_back(msg::str(field.name),
                       field.name == "token_ids" ? msg::array32_header(0xffffffff) : field.valid);
  out.push_back(
      {msg::integer(1), type_frame(test, RequestType::kLookup), msg::map(pairs), msg::integer(1)});
  return out;
}

std::vector<Frames> huge_values(Case& test, Stage& stage) {
  const auto lookup_with = [&](const std::string& name, const Bytes& value) {
    std::vector<msg::Pair> pairs;
    for (const Field& field : stage.fields(RequestType::kLookup, 0))
      pairs.emplace_back(msg::str(field.name), field.name == name ? value : field.valid);
    return Frames{msg::integer(1), type_frame(test, RequestType::kLookup), msg::map(pairs),
                  msg::integer(1)};
  };
  const Bytes long_text = msg::str(std::string(std::size_t{4} << 20, 'x'));
  return {lookup_with("model_name", long_text),
          lookup_with("request_id", long_text),
          lookup_with("cache_salt", long_text),
          lookup_with("token_ids", msg::array(std::vector<Bytes>(1000000, msg::integer(100000)))),
          {msg::integer(1), type_frame(test, RequestType::kEndSession), long_text},
          {msg::integer(1), type_frame(test, RequestType::kQueryPrefetchStatus), long_text}};
}

void clients_vanish(Case& test) {
  Client bystander = test.client();
  bystander.call<std::string>(RequestType::kNoop);
  Stage stage(test);
  const Frames lookup = stage.valid(RequestType::kLookup);
  for (int i = 0; i < 50; ++i) {
    Client passing = test.client();
    for (int k = 0; k < 20; ++k) {
      passing.send(RequestType::kPing, {});
      passing.send(RequestType::kLookup, lookup);
      passing.send(RequestType::kNoop, {});
    }
    // Half of them are seen by the server for certain before they go.
    if (i % 2 == 0) passing.call<std::string>(RequestType::kNoop);
  }
  bystander.fence();
  test.expect_alive("50 clients that left with replies pending");
}

void client_never_reads(Case& test) {
  Client deaf = test.client();
  Client bystander = test.client();
  const Bytes uid(std::size_t{1} << 16, 0x2a);  // comes back, so that replies are large
  for (int i = 0; i < 2000; ++i)
    deaf.send_frames({uid, type_frame(test, i % 2 == 0 ? RequestType::kNoop : RequestType::kPing)});
  for (int i = 0; i < 50; ++i) {
    bystander.call<std::string>(RequestType::kNoop);
    bystander.call<bool>(RequestType::kPing);
  }
  test.expect_alive("a client that does not read its replies");
}

void identity_is_used_again(Case& test) {
  const std::string identity = test.unique("identity");
  const Bytes noop = type_frame(test, RequestType::kNoop);
  const auto open = [&] {
    zmq::socket_t socket(test.context().sockets(), ZMQ_DEALER);
    socket.set(zmq::sockopt::linger, 0);
    socket.set(zmq::sockopt::routing_id, identity);
    socket.connect(test.context().endpoint());
    return socket;
  };
  const auto ask = [&](zmq::socket_t& socket, int uid) {
    const Bytes frame = msg::integer(uid);
    socket.send(zmq::const_buffer(frame.data(), frame.size()), zmq::send_flags::sndmore);
    socket.send(zmq::const_buffer(noop.data(), noop.size()), zmq::send_flags::none);
  };
  for (int i = 0; i < 10; ++i) {  // one after the other, each leaving a reply behind
    zmq::socket_t socket = open();
    ask(socket, i);
    if (i % 2 == 0) continue;
    zmq::pollitem_t item{socket.handle(), 0, ZMQ_POLLIN, 0};
    zmq::poll(&item, 1, std::chrono::milliseconds(20));  // answered or not: that is libzmq's choice
  }
  zmq::socket_t first = open();
  zmq::socket_t second = open();  // two at once
  ask(first, 100);
  ask(second, 101);
  Client bystander = test.client();
  bystander.fence();
  test.expect_alive("an identity used by several connections");
}

// A greeting that does not begin with ff is read by libzmq as one of ZMTP 1.0, whose frames are a
// length, flags and that many bytes: so a scrape, a browser or a TLS client sends messages of one
// frame without knowing it.
std::vector<Bytes> greetings() {
  constexpr std::string_view kScrape =
      "GET /metrics HTTP/1.1\r\nHost: localhost:5555\r\nUser-Agent: Prometheus/2.45.0\r\nAccept: "
      "application/openmetrics-text;version=1.0.0,application/"
      "openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1\r\n"
      "Accept-Encoding: gzip\r\nX-Prometheus-Scrape-Timeout-Seconds: 10\r\n\r\n";
  Bytes tls_hello = msg::raw({0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3});
  for (int i = 0; i < 600; ++i) tls_hello.push_back(static_cast<std::uint8_t>(i % 200));
  return {to_bytes(as_bytes("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")),
          Bytes(100000, 0xff),
          Bytes(10, 0x00),
          {},
          msg::raw({0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f}),  // a ZMTP 3 greeting, and then nothing
          msg::raw({0x01, 0x00, 0x02, 0x00, 0x01}),        // ZMTP 1.0: no identity, one frame: 1
          to_bytes(as_bytes(kScrape)),
          tls_hello};
}

void strangers_connect(Case& test) {
  Client bystander = test.client();
  bystander.call<std::string>(RequestType::kNoop);
  for (const Bytes& greeting : greetings()) {
    test.step(
        fmt::format("a connection that says {}",
                    to_hex(ByteView(greeting).first(std::min<std::size_t>(greeting.size(), 32)))));
    if (!send_raw_tcp(test.context().endpoint(), greeting)) return;  // not a tcp endpoint
  }
  bystander.fence();
  bystander.call<std::string>(RequestType::kNoop);
  test.expect_alive("connections that do not speak ZMTP");
}

}  // namespace

void add_robustness_cases(CaseList& list, const Registry&) {
  add(list, "SurvivesJunkPayloads", "robustness.junk",
      "1000 requests with random payload frames stop nobody.", "random payloads", junk_payloads);
  add(list, "SurvivesJunkMessages", "robustness.junk",
      "1000 messages of random frames stop nobody.", "random messages", junk_messages);
  add(list, "SurvivesFlippedBits", "robustness.junk",
      "600 honest requests with one bit flipped in a payload stop nobody.", "flipped bits",
      flipped_bits);
  add(list, "SurvivesHugeFrames", "robustness.size",
      "Junk of 64 MiB as a payload, and of 8 MiB as a uid, stops nobody.", "frames of 64 MiB",
      huge_frames);
  add(list, "SurvivesDeepNesting", "robustness.depth",
      "Documents nested up to a million deep, as a payload and as an unknown field, stop nobody.",
      "deep nesting", deep_nesting);
  add(list, "SurvivesThousandsOfFrames", "robustness.size",
      "Messages of 1000 and 10,000 frames stop nobody.", "messages of thousands of frames",
      many_frames);
  add(list, "SurvivesLyingLengths", "robustness.lying-lengths",
      "Lengths of 2^32-1 with nothing behind them, in every payload position, stop nobody.",
      "lengths that lie", lying_lengths);
  add(list, "SurvivesHugeValues", "robustness.size",
      "Strings of 4 MiB and a million tokens stop nobody.", "huge values", huge_values);
  const auto add_body = [&](const std::string& id, const std::string& requirement,
                            const std::string& claim, std::function<void(Case&)> body) {
    list.add({.id = "Robustness." + id,
              .proves = {requirement, "robustness.one-client-stops-nobody"},
              .claim = claim,
              .needs = {},
              .body = std::move(body)});
  };
  add_body("SurvivesClientsThatVanish", "robustness.peers-come-and-go",
           "50 clients that leave with replies pending stop nobody.", clients_vanish);
  add_body("SurvivesAClientThatNeverReads", "robustness.slow-reader",
           "A client that leaves 2000 replies of 64 KiB unread stops nobody.", client_never_reads);
  add_body("SurvivesIdentityReuse", "robustness.peers-come-and-go",
           "An identity used again, and by two connections at once, stops nobody.",
           identity_is_used_again);
  add_body("SurvivesStrangers", "robustness.peers-come-and-go",
           "TCP connections that do not speak ZMTP 3 (HTTP, TLS, ZMTP 1.0, junk) stop nobody.",
           strangers_connect);
}

}  // namespace kvc::conformance
