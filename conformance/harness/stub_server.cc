// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/stub_server.h"

#include "kvc/protocol/codec.h"
#include "kvc/protocol/envelope.h"

namespace kvc::conformance {
namespace {

Frames result_of(RequestType type) {
  switch (type) {
    case RequestType::kNoop:
      return {encoded(std::string("OK"))};
    case RequestType::kPing:
      return {encoded(true)};
    case RequestType::kGetChunkSize:
      return {encoded(Int(32))};
    case RequestType::kQueryPrefetchStatus:
    case RequestType::kQueryPrefetchLookupHits:
      return {encoded(Int(0))};
    default:
      return {};
  }
}

}  // namespace

StubServer::StubServer(Flaws flaws) : flaws_(flaws), router_(sockets_, ZMQ_ROUTER) {
  router_.set(zmq::sockopt::linger, 0);
  router_.bind("tcp://127.0.0.1:*");
  endpoint_ = router_.get(zmq::sockopt::last_endpoint);
  thread_ = std::thread([this] { serve(); });
}

StubServer::~StubServer() {
  stop_ = true;
  thread_.join();
}

void StubServer::serve() {
  zmq::pollitem_t item{router_.handle(), 0, ZMQ_POLLIN, 0};
  while (!stop_) {
    if (zmq::poll(&item, 1, std::chrono::milliseconds(5)) == 0) continue;
    Frames message;
    zmq::message_t frame;
    do {
      if (!router_.recv(frame, zmq::recv_flags::none)) break;
      const auto* data = frame.data<std::uint8_t>();
      message.emplace_back(data, data + frame.size());
    } while (frame.more());
    ++num_requests_;
    if (!dead_) answer(message);
  }
}

void StubServer::answer(const Frames& message) {
  const Bytes& identity = message.front();
  const Bytes previous = last_client_.empty() ? identity : last_client_;
  last_client_ = identity;
  if (flaws_.silent || message.size() < 3) return;
  const auto type = decode_type_frame(registry_0_4_5(), message[2]);
  if (!type) {
    if (flaws_.dies_of_poison) dead_ = true;
    if (flaws_.answers_unknown) reply(identity, {message[1], message[2]});
    return;
  }
  const RequestType request = (*type)->type;
  if (request == RequestType::kPing && flaws_.no_ping) return;
  if (message.size() - 3 != (*type)->payloads.size()) return;
  if (request == RequestType::kNoop && num_noops_++ == flaws_.noops_until_death) {
    dead_ = true;
    return;
  }
  // Nothing of blend, and nothing that needs a device.
  const bool served = (*type)->group.substr(0, 5) != "blend" &&
                      request != RequestType::kRegisterKvCache && request != RequestType::kStore &&
                      request != RequestType::kRetrieve;
  if (!served) return;
  Frames frames = {message[1], message[2]};
  for (Bytes& frame : result_of(request)) frames.push_back(std::move(frame));
  if (flaws_.swaps_uid) frames[0] = encoded(Int(1000000));
  if (flaws_.answers_wrong && request == RequestType::kNoop) frames[2] = encoded(std::string("NO"));
  if (flaws_.adds_frame) frames.resize(4, {0xc0});
  reply(flaws_.to_last_client ? previous : identity, frames);
  if (flaws_.answers_twice) reply(identity, frames);
}

void StubServer::reply(const Bytes& identity, const Frames& frames) {
  router_.send(zmq::const_buffer(identity.data(), identity.size()), zmq::send_flags::sndmore);
  for (std::size_t i = 0; i < frames.size(); ++i)
    router_.send(zmq::const_buffer(frames[i].data(), frames[i].size()),
                 i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
}

}  // namespace kvc::conformance
