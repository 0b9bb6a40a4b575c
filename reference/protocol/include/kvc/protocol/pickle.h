// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Pickle: reads and writes the one shape that crosses this wire inside msgpack Ext code 1, a
// CudaIPCWrapper or RawCudaIPCWrapper (seed: custom_types.py). The real server hands these bytes to
// pickle.loads, so whoever reaches its port runs code there. This reader runs nothing: opcodes and
// globals come from an allow-list, size, depth, stack and memo are bounded (limits.h), and whatever
// else is in the bytes is refused with a reason. Pure functions; any thread.
#pragma once

#include "kvc/protocol/bytes.h"
#include "kvc/protocol/result.h"
#include "kvc/protocol/values.h"

namespace kvc {

// Reads protocols 2 to 5. Paths name the field: "$.handle[1]: …". Like pickle.loads it leaves
// unread what follows the pickle's end.
Result<IpcTensor> read_pickle(ByteView pickle);

// Writes protocol 4 (what Python 3.8 to 3.13 writes): CPython's pickle.loads reads it.
Bytes write_pickle(const IpcTensor& tensor);

// The 64 bytes that stand for a cudaIpcMemHandle_t, out of either wrapper: bare, or behind a
// version byte (1, 2 or 3) and the type byte 'c'. Type byte 'e' (an expandable segment) is
// kUnsupported with a reason; another length or version is kBadValue.
Result<ByteView> memory_handle(const IpcTensor& tensor);

}  // namespace kvc
