// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Controller: what an engine and its operator ask before anything else: chunk size, PING, NOOP, and
// CLEAR of a cache that holds nothing.
#include <fmt/format.h>

#include "conformance/cases/lists.h"
#include "conformance/cases/refusals.h"
#include "conformance/cases/stage.h"

namespace kvc::conformance {

void add_controller_cases(CaseList& list, const Registry&) {
  list.add({.id = "Controller.NoopSaysOk",
            .proves = {"controller.noop"},
            .claim = "NOOP answers \"OK\", in the bytes a24f4b.",
            .needs = {},
            .body = [](Case& test) {
              Client client = test.client();
              const Reply reply = client.reply_to(client.send(RequestType::kNoop, {}));
              test.expect(reply.has_result() && reply.frames[2] == msg::str("OK"), "a24f4b",
                          reply.has_result() ? to_hex(reply.frames[2]) : "no result frame");
            }});
  list.add({.id = "Controller.PingSaysTrue",
            .proves = {"controller.ping"},
            .claim = "PING answers True, in the byte c3.",
            .needs = {},
            .body = [](Case& test) {
              Client client = test.client();
              const Reply reply = client.reply_to(client.send(RequestType::kPing, {}));
              test.expect(reply.has_result() && reply.frames[2] == msg::boolean(true), "c3",
                          reply.has_result() ? to_hex(reply.frames[2]) : "no result frame");
            }});
  list.add({.id = "Controller.ChunkSizeIsAPositiveInt",
            .proves = {"controller.chunk-size", "registry.release-probe"},
            .claim = "GET_CHUNK_SIZE answers an int that can be a number of tokens: 1 to 2^20.",
            .needs = {},
            .body = [](Case& test) {
              Client client = test.client();
              const Int size = client.call<Int>(RequestType::kGetChunkSize);
              test.expect(size >= Int(1) && size <= Int(1 << 20), "1 … 1048576", size.to_string());
            }});
  list.add(
      {.id = "Controller.ChunkSizeIsTheSameForAll",
       .proves = {"controller.chunk-size"},
       .claim = "GET_CHUNK_SIZE answers every client the same, in the shortest encoding, at any "
                "time.",
       .needs = {},
       .body = [](Case& test) {
         Client first = test.client();
         const Int size = first.call<Int>(RequestType::kGetChunkSize);
         const auto expected = size.as_u64();
         test.expect(expected.has_value(), "a positive int", size.to_string());
         for (int i = 0; i < 5; ++i) {
           Client other = test.client();
           const Reply reply = other.reply_to(other.send(RequestType::kGetChunkSize, {}));
           test.expect(reply.has_result() && reply.frames[2] == msg::unsigned_integer(*expected),
                       to_hex(msg::unsigned_integer(*expected)),
                       reply.has_result() ? to_hex(reply.frames[2]) : "no result frame");
         }
       }});
  list.add({.id = "Controller.ClearAnswersTwice",
            .proves = {"controller.clear"},
            .claim = "CLEAR answers None, and again when there is nothing left to clear.",
            .needs = {},
            .body = [](Case& test) {
              Client client = test.client();
              client.call<None>(RequestType::kClear);
              client.call<None>(RequestType::kClear);
            }});
}

}  // namespace kvc::conformance
