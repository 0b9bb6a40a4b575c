// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Flaws of REGISTER_KV_CACHE and UNREGISTER_KV_CACHE.
#include <set>
#include <string>
#include <utility>

#include "mutants/flaw.h"
#include "mutants/shadow.h"

namespace kvc::mutants {
namespace {

constexpr auto kRegister = RequestType::kRegisterKvCache;
constexpr auto kUnregister = RequestType::kUnregisterKvCache;

Changes with_hints(std::function<void(LayoutHints&)> change) {
  return with_calls({kRegister}, [change = std::move(change)](Call& call, const Parts&) {
    call.change<LayoutHints>(5, change);
    return call.next();
  });
}

Changes second_replaces() {
  return with_calls({kRegister}, [](Call& call, const Parts& parts) {
    if (const auto id = call.get<Int>(0)) static_cast<void>(parts.engine.unregister_kv_cache(*id));
    return call.next();
  });
}

Changes unregister_clears() {
  return with_calls({kUnregister}, [](Call& call, const Parts& parts) {
    static_cast<void>(parts.engine.clear());
    return call.next();
  });
}

Changes unregister_unknown_is_silent() {
  return {.handlers = [](const Parts& parts) {
    // Its own book: asked before UNREGISTER takes the instance out.
    const auto known = std::make_shared<std::set<Int>>();
    around(parts.handlers, {kRegister}, [known](Call& call) {
      Outcome outcome = call.next();
      if (outcome.reply) known->insert(*call.get<Int>(0));
      return outcome;
    });
    around(parts.handlers, {kUnregister}, [known](Call& call) {
      Outcome outcome = call.next();
      const auto id = call.get<Int>(0);
      return outcome.reply && id && known->erase(*id) == 0 ? silence() : outcome;
    });
  }};
}

Changes refusals_answered(std::function<bool(Call&)> which) {
  return with_calls({kRegister}, [which = std::move(which)](Call& call, const Parts&) {
    Outcome outcome = call.next();
    return !outcome.reply && which(call) ? answer_none() : outcome;
  });
}

bool decodes(Call& call) {
  return call.get<Int>(0) && call.get<KVCache>(1) && call.get<std::string>(2) && call.get<Int>(3) &&
         call.get<EngineType>(4) && call.get<LayoutHints>(5);
}

bool is_empty(Call& call) {
  const auto cache = call.get<KVCache>(1);
  return decodes(call) && cache->empty();
}

bool is_mock(Call& call) { return decodes(call) && call.get<EngineType>(4) == EngineType::kMock; }

// A storage is as large as it says.
Changes first_tensor_for_all() {
  return with_calls({kRegister}, [](Call& call, const Parts&) {
    call.change<KVCache>(1, [](KVCache& cache) {
      for (IpcTensor& tensor : cache) tensor.handle = cache.front().handle;
    });
    return call.next();
  });
}

Changes storage_offset_ignored() {
  return with_calls({kRegister}, [](Call& call, const Parts&) {
    call.change<KVCache>(1, [](KVCache& cache) {
      for (IpcTensor& tensor : cache) tensor.storage_offset = Int(0);
    });
    return call.next();
  });
}

Changes version_3_unknown() {
  return with_calls({kRegister}, [](Call& call, const Parts&) {
    const auto cache = call.get<KVCache>(1);
    if (cache)
      for (const IpcTensor& tensor : *cache)
        if (const auto* handle = std::get_if<TorchIpcHandle>(&tensor.handle))
          if (handle->handle.size() == 66 && handle->handle[0] == 3) return silence();
    return call.next();
  });
}

Changes eight_byte_dtypes_refused() {
  return with_calls({kRegister}, [](Call& call, const Parts&) {
    const auto cache = call.get<KVCache>(1);
    if (cache)
      for (const IpcTensor& tensor : *cache)
        if (dtype_size_bytes(tensor.dtype) == 8) return silence();
    return call.next();
  });
}

Changes four_instances() {
  return {.handlers = [](const Parts& parts) {
    const auto book = InstanceBook::kept(parts);
    around(parts.handlers, {kRegister},
           [book](Call& call) { return book->ids().size() >= 4 ? silence() : call.next(); });
  }};
}

}  // namespace

void add_registration_flaws(FlawList& list) {
  list.push_back({"second-registration-replaces",
                  "A REGISTER_KV_CACHE of a known instance takes the place of the first.",
                  "registration.twice", second_replaces});
  list.push_back({"unregister-ignored", "UNREGISTER_KV_CACHE is answered and does nothing.",
                  "registration.unregister", [] {
                    return with_calls({kUnregister},
                                      [](Call&, const Parts&) { return answer_none(); });
                  }});
  list.push_back({"unregister-clears", "UNREGISTER_KV_CACHE drops what is stored.",
                  "registration.unregister", unregister_clears});
  list.push_back({"unregister-unknown-silent",
                  "Does not answer UNREGISTER_KV_CACHE of an unknown instance.",
                  "registration.unregister-unknown", unregister_unknown_is_silent});
  list.push_back({"bad-registration-answered", "Answers a REGISTER_KV_CACHE that it refuses.",
                  "registration.refusal-leaves-nothing",
                  [] { return refusals_answered(decodes); }});
  list.push_back({"empty-registration-answered", "Takes a registration without tensors.",
                  "registration.refuses-empty", [] { return refusals_answered(is_empty); }});
  list.push_back({"mock-engine-taken", "Takes a registration of the engine mock.",
                  "registration.refuses-engines", [] { return refusals_answered(is_mock); }});
  list.push_back({"hnd-as-nhd", "Takes the hint HND for NHD.", "layout.hnd-nhd", [] {
                    return with_hints([](LayoutHints& hints) {
                      if (hints.kv_layout) hints.kv_layout = KvLayout::kNHD;
                    });
                  }});
  list.push_back({"hnd-by-default", "Takes tensors without the hint kv_layout for HND.",
                  "layout.nhd-default", [] {
                    return with_hints([](LayoutHints& hints) {
                      if (!hints.kv_layout) hints.kv_layout = KvLayout::kHND;
                    });
                  }});
  list.push_back({"logical-block-ignored", "Ignores inference_engine_logical_block_size.",
                  "layout.compressed", [] {
                    return with_hints([](LayoutHints& hints) {
                      hints.inference_engine_logical_block_size.reset();
                    });
                  }});
  list.push_back({"one-handle-for-all", "Opens the first tensor's memory for all layers.",
                  "retrieve.exact", first_tensor_for_all});
  list.push_back({"storage-offset-ignored", "Takes each tensor from the start of its storage.",
                  "layout.storage-offset", storage_offset_ignored});
  list.push_back({"handle-version-3-refused", "Does not know memory handles of version 3.",
                  "layout.handle-forms", version_3_unknown});
  list.push_back({"eight-byte-dtypes-refused", "Refuses elements of 8 bytes.", "layout.dtypes",
                  eight_byte_dtypes_refused});
  list.push_back({"four-instances-at-most", "Serves four instances, and no fifth.",
                  "registration.instances", four_instances});
}

}  // namespace kvc::mutants
