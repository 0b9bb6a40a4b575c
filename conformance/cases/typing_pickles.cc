// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Typing, inside the Ext of a KVCache: the pickle of a wrapper. What CPython writes is taken in
// each of its protocols and shapes; a wrapper with a wrong or missing attribute, and what is no
// wrapper, is refused, and nothing is registered by it.
#include <fmt/format.h>

#include "conformance/cases/lists.h"
#include "conformance/cases/refusals.h"
#include "conformance/cases/stage.h"
#include "conformance/harness/message_text.h"
#include "conformance/harness/pickle_builder.h"

namespace kvc::conformance {
namespace {

using Pickles = std::vector<std::pair<std::string, Bytes>>;  // what it is, and the pickle

// Registered, and served: the pickle was read for what it says.
void expect_registers(Case& test, Stage& stage, const Bytes& pickle) {
  Client client = test.client();
  const std::uint64_t id = stage.new_instance_id();
  client.reply_to(client.send(RequestType::kRegisterKvCache, stage.registration_of(pickle, id)));
  const auto stored = client.result<TransferResult>(
      client.reply_to(client.send(RequestType::kStore, stage.store_of(id))));
  test.expect(stored.ok, "True for a STORE from the registered tensor", "False");
  client.reply_to(client.send(RequestType::kUnregisterKvCache, {msg::unsigned_integer(id)}));
}

// Never answered, and nothing registered. The honest registration in front and the honest STORE at
// the end are answered: they show that all the rest of the message is good.
void expect_refused(Case& test, Stage& stage, const Pickles& pickles) {
  Client client = test.client();
  stage.register_instance();
  for (const auto& [what, pickle] : pickles) {
    test.step(what);
    const std::uint64_t id = stage.new_instance_id();
    const Sent sent = client.send(RequestType::kRegisterKvCache, stage.registration_of(pickle, id));
    client.expect_silence(sent, "a REGISTER_KV_CACHE with " + what);
    const Sent store = client.send(RequestType::kStore, stage.store_of(id));
    client.reply_to(client.send(RequestType::kStore, stage.valid(RequestType::kStore)));
    expect_no_success(test, client, {store}, "a STORE for an instance whose REGISTER was refused");
  }
}

CaseSpec pickle_case(const std::string& claim_id, const std::string& claim,
                     const std::string& requirement,
                     std::function<void(Case&, Stage&, const IpcTensor&)> body) {
  CaseSpec spec;
  spec.id = "Typing.Pickle_" + claim_id;
  spec.proves = {requirement};
  spec.claim = claim;
  spec.needs = {Capability::kDevice};
  spec.body = [body = std::move(body)](Case& test) {
    Stage stage(test);
    body(test, stage, stage.tensor());
  };
  return spec;
}

Bytes wrapper_with(const std::vector<pkl::Attribute>& state) {
  return pkl::document(
      pkl::object(pkl::stack_global(pkl::kWrapperModule, pkl::kCudaWrapper), state));
}

Pickles with_attribute(const IpcTensor& tensor, std::string_view name,
                       const std::vector<std::pair<std::string, Bytes>>& values) {
  Pickles out;
  for (const auto& [what, value] : values) {
    std::vector<pkl::Attribute> state = pkl::wrapper_state(tensor);
    for (pkl::Attribute& attribute : state)
      if (attribute.first == name) attribute.second = value;
    out.emplace_back(fmt::format("{} for {}", what, name), wrapper_with(state));
  }
  return out;
}

Pickles with_handle_element(const IpcTensor& tensor, std::size_t index,
                            const std::vector<std::pair<std::string, Bytes>>& values) {
  Pickles out;
  for (const auto& [what, value] : values) {
    std::vector<Bytes> elements = pkl::torch_handle(std::get<TorchIpcHandle>(tensor.handle));
    elements.at(index) = value;
    Pickles one = with_attribute(tensor, "handle", {{"", pkl::tuple(elements)}});
    out.emplace_back(fmt::format("{} for handle[{}]", what, index), one.front().second);
  }
  return out;
}

void append(Pickles& to, const Pickles& more) { to.insert(to.end(), more.begin(), more.end()); }

void add_accepting(CaseList& list) {
  for (const std::uint8_t protocol :
       {std::uint8_t{2}, std::uint8_t{3}, std::uint8_t{4}, std::uint8_t{5}}) {
    list.add(pickle_case(
        fmt::format("AcceptsProtocol{}", protocol),
        fmt::format("A wrapper pickled with protocol {} is read and registered.", protocol),
        "typing.pickle", [protocol](Case& test, Stage& stage, const IpcTensor& tensor) {
          expect_registers(test, stage, pkl::wrapper(tensor, protocol));
        }));
  }
  list.add(pickle_case("AcceptsRawWrapper", "A RawCudaIPCWrapper is read and registered.",
                       "typing.pickle", [](Case& test, Stage& stage, const IpcTensor& tensor) {
                         const auto& torch = std::get<TorchIpcHandle>(tensor.handle);
                         IpcTensor bare = tensor;
                         bare.handle =
                             RawIpcHandle{Bytes(torch.handle.end() - 64, torch.handle.end()),
                                          torch.storage_size_bytes};
                         expect_registers(test, stage, pkl::wrapper(bare));
                       }));
  list.add(pickle_case("AcceptsBareHandle",
                       "The 64 handle bytes of an old torch, without version and type, are taken.",
                       "typing.pickle", [](Case& test, Stage& stage, const IpcTensor& tensor) {
                         IpcTensor bare = tensor;
                         Bytes& handle = std::get<TorchIpcHandle>(bare.handle).handle;
                         handle.erase(handle.begin(), handle.end() - 64);
                         expect_registers(test, stage, pkl::wrapper(bare));
                       }));
  list.add(pickle_case(
      "AcceptsFramesAndMemo", "FRAME, MEMOIZE and memo gets, as CPython writes them, are read.",
      "typing.pickle", [](Case& test, Stage& stage, const IpcTensor& tensor) {
        // The two handles after the memory's are the same bytes object here: the second is a get.
        std::vector<Bytes> elements = pkl::torch_handle(std::get<TorchIpcHandle>(tensor.handle));
        elements[4] = pkl::memoized(pkl::bytes(Bytes(64, 3)));
        elements[6] = pkl::memo_get(0);
        std::vector<pkl::Attribute> state = pkl::wrapper_state(tensor);
        state.front().second = pkl::tuple(elements);
        expect_registers(test, stage,
                         pkl::framed(pkl::object(
                             pkl::stack_global(pkl::kWrapperModule, pkl::kCudaWrapper), state)));
      }));
}

void add_refusing_attributes(CaseList& list) {
  const auto add = [&](const std::string& id, const std::string& what,
                       std::function<Pickles(const IpcTensor&)> pickles) {
    list.add(pickle_case(id, "A wrapper with " + what + " is refused and registers nothing.",
                         "typing.pickle-attributes",
                         [pickles](Case& test, Stage& stage, const IpcTensor& tensor) {
                           expect_refused(test, stage, pickles(tensor));
                         }));
  };
  const Bytes text = pkl::str("text");
  add("RefusesWrongHandle", "a handle that is no 8-tuple", [=](const IpcTensor& tensor) {
    return with_attribute(tensor, "handle",
                          {{"an int", pkl::integer(1)},
                           {"a str", text},
                           {"None", pkl::none()},
                           {"an empty tuple", pkl::tuple({})},
                           {"a tuple of one", pkl::tuple({pkl::integer(0)})}});
  });
  add("RefusesWrongHandleElements", "handle elements of another kind",
      [=](const IpcTensor& tensor) {
        Pickles out = with_handle_element(tensor, 1,
                                          {{"an int", pkl::integer(1)},
                                           {"a str", text},
                                           {"None", pkl::none()},
                                           {"ten bytes", pkl::bytes(Bytes(10, 1))}});
        append(out, with_handle_element(tensor, 2, {{"a str", text}, {"None", pkl::none()}}));
        append(out, with_handle_element(tensor, 3, {{"a str", text}, {"None", pkl::none()}}));
        return out;
      });
  add("RefusesWrongDtype", "a dtype that is no dtype", [=](const IpcTensor& tensor) {
    return with_attribute(tensor, "dtype",
                          {{"a str", pkl::str("float16")},
                           {"an int", pkl::integer(2)},
                           {"torch.nothing", pkl::global("torch", "nothing_of_this_name")},
                           {"a module's function", pkl::global("torch", "zeros")}});
  });
  add("RefusesWrongShape", "a shape that is no tuple of sizes", [=](const IpcTensor& tensor) {
    return with_attribute(tensor, "shape",
                          {{"a str", text},
                           {"None", pkl::none()},
                           {"a tuple of str", pkl::tuple({text, text})},
                           {"a negative size", pkl::tuple({pkl::integer(-1)})},
                           {"an empty tuple", pkl::tuple({})}});
  });
  add("RefusesWrongStride", "a stride that is none for its shape", [=](const IpcTensor& tensor) {
    return with_attribute(tensor, "stride",
                          {{"a str", text},
                           {"None", pkl::none()},
                           {"one stride for five sizes", pkl::tuple({pkl::integer(1)})},
                           {"tuples", pkl::tuple({pkl::tuple({}), pkl::tuple({})})}});
  });
  add("RefusesWrongStorageOffset", "a storage_offset that is no int", [=](const IpcTensor& tensor) {
    return with_attribute(
        tensor, "storage_offset",
        {{"a str", text}, {"a float", pkl::real(0.5)}, {"a tuple", pkl::tuple({})}});
  });
  add("RefusesMissingAttributes", "an attribute missing", [](const IpcTensor& tensor) {
    Pickles out;
    const std::vector<pkl::Attribute> whole = pkl::wrapper_state(tensor);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      if (whole[i].first == "device_uuid") continue;  // the host device needs none
      std::vector<pkl::Attribute> state = whole;
      state.erase(state.begin() + static_cast<std::ptrdiff_t>(i));
      out.emplace_back(fmt::format("no {}", whole[i].first), wrapper_with(state));
    }
    out.emplace_back("no state at all", wrapper_with({}));
    return out;
  });
}

void add_refusing_documents(CaseList& list) {
  list.add(pickle_case(
      "RefusesTruncation", "A pickle cut anywhere is refused and registers nothing.",
      "typing.pickle-document", [](Case& test, Stage& stage, const IpcTensor& tensor) {
        const Bytes whole = pkl::wrapper(tensor);
        Pickles out = {{"an empty pickle", {}}};
        for (std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{3}, whole.size() / 4,
                                 whole.size() / 2, whole.size() - 2, whole.size() - 1})
          out.emplace_back(fmt::format("the first {} of {} bytes", size, whole.size()),
                           Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
        expect_refused(test, stage, out);
      }));
  list.add(
      pickle_case("RefusesNonsense", "Bytes that are no pickle are refused and register nothing.",
                  "typing.pickle-document", [](Case& test, Stage& stage, const IpcTensor& tensor) {
                    Bytes future = pkl::wrapper(tensor);
                    future[1] = 200;
                    expect_refused(test, stage,
                                   {{"zeros", Bytes(200, 0)},
                                    {"STOP alone", {'.'}},
                                    {"an opcode that does not exist", {0x80, 4, 0xff, '.'}},
                                    {"a protocol that does not exist", future},
                                    {"a get from an empty memo", pkl::document(pkl::memo_get(7))},
                                    {"text", to_bytes(as_bytes("not a pickle at all"))},
                                    {"BUILD on an empty stack", pkl::document({'b'})},
                                    {"a POP too many", pkl::document({'N', '0', '0'})}});
                  }));
}

}  // namespace

void add_typing_pickle_cases(CaseList& list, const Registry&) {
  add_accepting(list);
  add_refusing_attributes(list);
  add_refusing_documents(list);
}

}  // namespace kvc::conformance
