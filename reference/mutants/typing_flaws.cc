// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Flaws of the types: single values taken that are to be refused, or refused that are to be taken.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include "mutants/call.h"
#include "mutants/document.h"
#include "mutants/flaw.h"

namespace kvc::mutants {
namespace {

using msgpack::object;
namespace type = msgpack::type;

Changes with_nodes(std::function<bool(object&)> edit) {
  return with_trees(
      [edit = std::move(edit)](Tree& tree, WireType) { return edit_all(tree.root, edit); });
}

// Payloads of one type, as a whole.
Changes with_roots(WireType wanted, std::function<bool(object&, msgpack::zone&)> edit) {
  return with_trees([wanted, edit = std::move(edit)](Tree& tree, WireType of) {
    return of == wanted && edit(tree.root, tree.zone);
  });
}

bool bool_to_int(object& node) {
  if (node.type != type::BOOLEAN) return false;
  node = object(node.via.boolean ? 1 : 0);
  return true;
}

bool float_to_int(object& node) {
  if (node.type != type::FLOAT64 && node.type != type::FLOAT32) return false;
  if (node.via.f64 < -1e9 || node.via.f64 > 1e9) return false;
  node = object(static_cast<std::int64_t>(node.via.f64));
  return true;
}

bool nil_to_zero(object& node, msgpack::zone&) {
  if (node.type != type::NIL) return false;
  node = object(0);
  return true;
}

bool text_to_int(object& node, msgpack::zone&) {
  if (node.type != type::STR) return false;
  node = object(std::atoi(std::string(node.via.str.ptr, node.via.str.size).c_str()));
  return true;
}

void retype(object& node, type::object_type to) {  // STR and BIN have the same shape
  const char* const data = node.type == type::STR ? node.via.str.ptr : node.via.bin.ptr;
  const std::uint32_t size = node.type == type::STR ? node.via.str.size : node.via.bin.size;
  node.type = to;
  if (to == type::STR) {
    node.via.str.ptr = data;
    node.via.str.size = size;
  } else {
    node.via.bin.ptr = data;
    node.via.bin.size = size;
  }
}

bool bin_to_str(object& node, msgpack::zone&) {
  if (node.type != type::BIN) return false;
  retype(node, type::STR);
  return true;
}

bool str_to_bin(object& node, msgpack::zone&) {
  if (node.type != type::STR) return false;
  retype(node, type::BIN);
  return true;
}

bool array_to_bin(object& node, msgpack::zone& zone) {
  if (node.type != type::ARRAY) return false;
  std::string bytes;
  for (std::uint32_t i = 0; i < node.via.array.size; ++i)
    bytes.push_back(static_cast<char>(node.via.array.ptr[i].via.u64));
  node = object(bytes, zone);
  retype(node, type::BIN);
  return true;
}

// Everything but ASCII becomes a question mark, if there is something that is no UTF-8: enough for
// a name.
Changes lenient_utf8() {
  return with_payloads([](ByteView frame, WireType of) -> std::optional<Bytes> {
    if (of != WireType::kStr || decode<std::string>(frame)) return std::nullopt;
    const auto tree = parse_tree(frame);
    if (tree == nullptr || tree->size_bytes != frame.size() || tree->root.type != type::STR)
      return std::nullopt;
    std::string text(tree->root.via.str.ptr, tree->root.via.str.size);
    for (char& c : text)
      if ((static_cast<unsigned char>(c) & 0x80) != 0) c = '?';
    return encoded(text);
  });
}

Changes trailing_bytes_ignored() {
  return with_payloads([](ByteView frame, WireType) -> std::optional<Bytes> {
    const auto tree = parse_tree(frame);
    if (tree == nullptr || tree->size_bytes == frame.size()) return std::nullopt;
    return to_bytes(frame.first(tree->size_bytes));
  });
}

Changes empty_frame_is_a_default() {
  return with_payloads([](ByteView frame, WireType of) -> std::optional<Bytes> {
    if (!frame.empty()) return std::nullopt;
    if (of == WireType::kInt) return encoded(Int(0));
    if (of == WireType::kStr) return encoded(std::string());
    if (of == WireType::kIntList) return encoded(IntArray{});
    return std::nullopt;
  });
}

// Numbers beyond 2^63, as a decoder to int64 takes them.
bool beyond_i64(const object& node) {
  if (node.type == type::POSITIVE_INTEGER) return node.via.u64 > INT64_MAX;
  if (node.type == type::ARRAY)
    for (std::uint32_t i = 0; i < node.via.array.size; ++i)
      if (beyond_i64(node.via.array.ptr[i])) return true;
  return false;
}

bool any_code(object& root, msgpack::zone& zone) {
  if (root.type != type::ARRAY) return false;
  bool changed = false;
  for (std::uint32_t i = 0; i < root.via.array.size; ++i) {
    object& ext = root.via.array.ptr[i];
    if (ext.type != type::EXT || ext.via.ext.type() == 1) continue;
    auto* const bytes = static_cast<char*>(zone.allocate_align(ext.via.ext.size + 1, 1));
    bytes[0] = 1;
    std::copy_n(ext.via.ext.data(), ext.via.ext.size, bytes + 1);
    ext.via.ext.ptr = bytes;
    changed = true;
  }
  return changed;
}

bool in_lower_case(object& root, msgpack::zone& zone) {
  if (root.type != type::STR) return false;
  std::string text(root.via.str.ptr, root.via.str.size);
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  root = object(text, zone);
  return true;
}

bool unknown_to_vllm(object& root, msgpack::zone& zone) {
  if (root.type != type::STR ||
      parse_engine_type({root.via.str.ptr, root.via.str.size}).has_value())
    return false;
  root = object(std::string("vllm"), zone);
  return true;
}

bool pairs_of_any_length(object& root, msgpack::zone&) {
  if (root.type != type::ARRAY) return false;
  bool changed = false;
  for (std::uint32_t i = 0; i < root.via.array.size; ++i) {
    object& pair = root.via.array.ptr[i];
    if (pair.type != type::ARRAY || pair.via.array.size <= 2) continue;
    pair.via.array.size = 2;
    changed = true;
  }
  return changed;
}

// A pickle's bytes, after the Ext's code.
Changes with_pickles(std::function<bool(std::string&)> edit) {
  return with_roots(
      WireType::kKVCache, [edit = std::move(edit)](object& root, msgpack::zone& zone) {
        if (root.type != type::ARRAY) return false;
        bool changed = false;
        for (std::uint32_t i = 0; i < root.via.array.size; ++i) {
          object& ext = root.via.array.ptr[i];
          if (ext.type != type::EXT || ext.via.ext.type() != 1) continue;
          std::string pickle(ext.via.ext.data(), ext.via.ext.size);
          if (!edit(pickle)) continue;
          auto* const bytes = static_cast<char*>(zone.allocate_align(pickle.size() + 1, 1));
          bytes[0] = 1;
          std::copy_n(pickle.data(), pickle.size(), bytes + 1);
          ext.via.ext.ptr = bytes;
          ext.via.ext.size = static_cast<std::uint32_t>(pickle.size());
          changed = true;
        }
        return changed;
      });
}

bool spoil_unless_protocol_4(std::string& pickle) {
  if (pickle.size() < 2 || pickle[0] != '\x80' || pickle[1] == 4) return false;
  pickle.assign("no");
  return true;
}

bool spoil_raw_wrappers(std::string& pickle) {
  if (pickle.find("RawCudaIPCWrapper") == std::string::npos) return false;
  pickle.assign("no");
  return true;
}

// What pickle.loads does of a client's bytes.
Changes run_pickles() {
  return with_pickles([](std::string& pickle) {
    if (pickle.find("time\nsleep") != std::string::npos)
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    return false;
  });
}

Changes any_object_is_a_tensor() {
  return {.handlers = [](const Parts& parts) {
    around(parts.handlers, {RequestType::kRegisterKvCache}, [](Call& call) {
      const Outcome outcome = call.next();
      const bool is_object =
          as_text(call.payload(1)).find("SimpleNamespace") != std::string_view::npos;
      return outcome.reply || !is_object ? outcome : answer_none();
    });
  }};
}

}  // namespace

void add_typing_flaws(FlawList& list) {
  list.push_back({"bool-for-int", "Takes True and False where an int is due.", "typing.int",
                  [] { return with_nodes(bool_to_int); }});
  list.push_back({"float-for-int", "Takes a float where an int is due, and cuts it.", "typing.int",
                  [] { return with_nodes(float_to_int); }});
  list.push_back({"nil-for-int", "Takes nil for 0 where an int is due.", "typing.int",
                  [] { return with_roots(WireType::kInt, nil_to_zero); }});
  list.push_back({"text-for-int", "Reads a number out of a str where an int is due.", "typing.int",
                  [] { return with_roots(WireType::kInt, text_to_int); }});
  list.push_back({"int64-only", "Refuses ints beyond 2^63 - 1.", "typing.int", [] {
                    return refusing_trees([](const Tree& tree, ByteView, WireType of) {
                      return of == WireType::kInt && beyond_i64(tree.root);
                    });
                  }});
  list.push_back({"bin-for-str", "Takes bytes where a str is due.", "typing.str",
                  [] { return with_roots(WireType::kStr, bin_to_str); }});
  list.push_back({"bad-utf8-mended", "Takes a str that is no UTF-8, with question marks in it.",
                  "typing.str", lenient_utf8});
  list.push_back({"str-for-bytes", "Takes a str where bytes are due.", "typing.bytes",
                  [] { return with_roots(WireType::kBytes, str_to_bin); }});
  list.push_back({"array-for-bytes", "Takes an array of numbers where bytes are due.",
                  "typing.bytes", [] { return with_roots(WireType::kBytes, array_to_bin); }});
  list.push_back(
      {"bool-in-lists", "Takes True and False as elements of a list[int].", "typing.int-list", [] {
         return with_roots(WireType::kIntList, [](object& root, msgpack::zone&) {
           return edit_all(root, bool_to_int);
         });
       }});
  list.push_back({"nil-for-list", "Takes nil for an empty list[int].", "typing.int-list", [] {
                    return with_roots(WireType::kIntList, [](object& root, msgpack::zone& zone) {
                      if (root.type != type::NIL) return false;
                      root = object(std::vector<int>(), zone);
                      return true;
                    });
                  }});
  list.push_back({"trailing-bytes-ignored", "Does not look at what follows a payload's document.",
                  "typing.one-document", trailing_bytes_ignored});
  list.push_back({"empty-frame-is-default", "Takes an empty frame for 0, \"\" or [].",
                  "typing.one-document", empty_frame_is_a_default});
  list.push_back({"long-encodings-refused", "Refuses what is not in its shortest encoding.",
                  "typing.any-encoding", [] {
                    return refusing_trees([](const Tree& tree, ByteView frame, WireType) {
                      return tree.size_bytes == frame.size() &&
                             as_text(packed(tree.root)) != as_text(frame);
                    });
                  }});
  list.push_back({"any-ext-code", "Takes an Ext of any code for a tensor.", "typing.kv-cache",
                  [] { return with_roots(WireType::kKVCache, any_code); }});
  list.push_back({"engine-in-any-case", "Takes \"VLLM\" for an EngineType.", "typing.engine-type",
                  [] { return with_roots(WireType::kEngineType, in_lower_case); }});
  list.push_back({"unknown-engine-is-vllm", "Takes an unknown EngineType for vllm.",
                  "typing.engine-type",
                  [] { return with_roots(WireType::kEngineType, unknown_to_vllm); }});
  list.push_back({"ranges-of-three", "Takes a range of three numbers, and looks at two.",
                  "typing.ranges",
                  [] { return with_roots(WireType::kRanges, pairs_of_any_length); }});
  list.push_back({"pickle-4-only", "Reads pickles of protocol 4 only.", "typing.pickle",
                  [] { return with_pickles(spoil_unless_protocol_4); }});
  list.push_back({"raw-wrapper-refused", "Refuses a tensor in a RawCudaIPCWrapper.",
                  "layout.raw-wrapper", [] { return with_pickles(spoil_raw_wrappers); }});
  list.push_back(
      {"pickle-end-optional", "Reads a pickle that does not end.", "typing.pickle-document", [] {
         return with_pickles([](std::string& pickle) {
           if (pickle.ends_with('.')) return false;
           pickle.push_back('.');
           return true;
         });
       }});
  list.push_back({"any-object-is-a-tensor",
                  "Answers a REGISTER_KV_CACHE of an object that is no CudaIPCWrapper.",
                  "security.pickle-other-objects", any_object_is_a_tensor});
  list.push_back({"pickles-run", "Runs what a pickle names, time.sleep for one.",
                  "security.pickle-runs-nothing", run_pickles});
}

}  // namespace kvc::mutants
