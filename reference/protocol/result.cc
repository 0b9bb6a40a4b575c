// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "kvc/protocol/result.h"

namespace kvc {

const char* phrase(Errc code) {
  switch (code) {
    case Errc::kTruncated:
      return "truncated";
    case Errc::kTrailingBytes:
      return "trailing bytes";
    case Errc::kMalformed:
      return "malformed";
    case Errc::kWrongKind:
      return "wrong kind";
    case Errc::kBadUtf8:
      return "bad UTF-8";
    case Errc::kBadValue:
      return "bad value";
    case Errc::kMissingField:
      return "missing field";
    case Errc::kWrongLength:
      return "wrong length";
    case Errc::kWrongExtCode:
      return "wrong ext code";
    case Errc::kForbidden:
      return "forbidden";
    case Errc::kLimit:
      return "over a limit";
    case Errc::kUnknownType:
      return "unknown request type";
    case Errc::kUnknownName:
      return "unknown name";
    case Errc::kInconsistent:
      return "inconsistent";
    case Errc::kUnsupported:
      return "unsupported";
    case Errc::kInvalidArgument:
      return "invalid argument";
    case Errc::kNotFound:
      return "not found";
    case Errc::kNoMemory:
      return "no memory";
  }
  return "unknown error";
}

}  // namespace kvc
