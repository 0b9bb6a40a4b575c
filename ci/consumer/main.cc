// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Decodes one frame, the Key of a LOOKUP, and says what it is. Exits 0 when it is what was sent.
#include <iostream>

#include "kvc/protocol/codec.h"
#include "kvc/protocol/registry.h"

int main() {
  const kvc::Definition* lookup = kvc::registry_0_4_5().find(kvc::RequestType::kLookup);
  const kvc::Bytes frame = kvc::from_hex(
                               "88aa6d6f64656c5f6e616d65a16daa776f726c645f73697a6501a9776f726b6572"
                               "5f6964c0a9746f6b656e5f696473920102a5737461727400a3656e6402aa726571"
                               "756573745f6964a172aa63616368655f73616c74a0")
                               .value();
  const kvc::Result<kvc::Value> key = kvc::decode_value(lookup->payloads[0], frame);
  if (!key.ok()) {
    std::cerr << key.error().text() << "\n";
    return 1;
  }
  std::cout << kvc::to_string(lookup->type) << " " << kvc::describe(*key) << "\n";
  return std::get<kvc::Key>(*key).token_ids == kvc::IntArray{1, 2} ? 0 : 1;
}
