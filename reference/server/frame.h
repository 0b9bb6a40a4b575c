// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Frame: one frame of a message and whatever owns its bytes: a zmq::message_t, or a Bytes in tests
// and fuzzers. Copies share the bytes, so a request can move from the loop to a pool's thread
// without a copy. Immutable; any thread may read.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kvc/protocol/bytes.h"

namespace kvc::server {

class Frame {
 public:
  Frame() = default;
  explicit Frame(Bytes bytes) {
    auto owner = std::make_shared<const Bytes>(std::move(bytes));
    view_ = *owner;
    owner_ = std::move(owner);
  }
  // Sees `view`, which `owner` keeps alive.
  Frame(ByteView view, std::shared_ptr<const void> owner) : view_(view), owner_(std::move(owner)) {}

  ByteView view() const { return view_; }
  std::size_t size() const { return view_.size(); }

 private:
  ByteView view_;
  std::shared_ptr<const void> owner_;
};

// A message as a ROUTER sees it: [identity][uid][type][payload…].
using Message = std::vector<Frame>;

// [identity][uid][type] or [identity][uid][type][result]. uid and type are the request's own
// frames.
struct Reply {
  Frame identity;
  Frame uid;
  Frame type;
  std::optional<Bytes> result;
};

}  // namespace kvc::server
