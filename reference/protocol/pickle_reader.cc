// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include <utility>

#include "kvc/protocol/limits.h"
#include "kvc/protocol/pickle.h"
#include "path.h"
#include "pickle_machine.h"
#include "pickle_names.h"

namespace kvc {
namespace {

using Kind = PickleObject::Kind;

// Reads the shape of a wrapper out of the machine's objects. Each read answers false after it has
// set error_.
class WrapperReader {
 public:
  explicit WrapperReader(const PickleMachine& machine) : machine_(machine) {}

  bool read(std::size_t root, IpcTensor& out) {
    const PickleObject& instance = machine_.object(root);
    if (instance.kind != Kind::kInstance) {
      return fail(Errc::kWrongKind, Path{},
                  std::string("expected CudaIPCWrapper, got ") + instance.kind_name());
    }
    is_raw_ = machine_.object(instance.items[0]).text == kRawWrapper;
    dict_ = instance.items.size() > 1 ? &machine_.object(instance.items[1]) : nullptr;
    return read_handle(out) && read_dtype(out.dtype) && read_ints("shape", out.shape) &&
           read_ints("stride", out.stride) && read_offset(out) &&
           read_text("device_uuid", out.device_uuid);
  }

  const Error& error() const { return error_; }

 private:
  bool fail(Errc code, const Path& path, std::string message) {
    error_ = {code, path.text(), std::move(message)};
    return false;
  }

  bool wrong_kind(const Path& path, const char* expected, const PickleObject& actual) {
    return fail(Errc::kWrongKind, path,
                std::string("expected ") + expected + ", got " + actual.kind_name());
  }

  // An attribute; of one that was set twice, the last. Unknown ones are never asked for.
  const PickleObject* find(std::string_view name) {
    if (dict_ != nullptr) {
      for (std::size_t i = dict_->items.size(); i > 0; i -= 2) {
        if (machine_.object(dict_->items[i - 2]).text == name) {
          return &machine_.object(dict_->items[i - 1]);
        }
      }
    }
    fail(Errc::kMissingField, Path{}, "missing attribute " + std::string(name));
    return nullptr;
  }

  bool take(const Path& path, const PickleObject& object, Int& out) {
    if (object.kind != Kind::kInt) return wrong_kind(path, "int", object);
    out = object.number;
    return true;
  }
  bool take(const Path& path, const PickleObject& object, Bytes& out) {
    if (object.kind != Kind::kBytes) return wrong_kind(path, "bytes", object);
    out = to_bytes(object.bytes());
    return true;
  }
  bool take(const Path& path, const PickleObject& object, bool& out) {
    if (object.kind != Kind::kBool) return wrong_kind(path, "bool", object);
    out = object.truth;
    return true;
  }

  template <class T>
  bool read_attribute(std::string_view name, T& out) {
    const PickleObject* object = find(name);
    const Path root;
    return object != nullptr && take(root.field(name), *object, out);
  }

  bool read_offset(IpcTensor& out) { return read_attribute("storage_offset", out.storage_offset); }

  bool read_text(std::string_view name, std::string& out) {
    const PickleObject* object = find(name);
    if (object == nullptr) return false;
    const Path root;
    if (object->kind != Kind::kStr) return wrong_kind(root.field(name), "str", *object);
    out = object->text;
    return true;
  }

  bool read_dtype(std::string& out) {
    const PickleObject* object = find("dtype");
    if (object == nullptr) return false;
    const Path root;
    if (object->kind != Kind::kDtype) return wrong_kind(root.field("dtype"), "dtype", *object);
    out = object->text;
    return true;
  }

  bool read_ints(std::string_view name, std::vector<Int>& out) {
    const PickleObject* object = find(name);
    if (object == nullptr) return false;
    const Path root;
    const Path path = root.field(name);
    if (object->kind != Kind::kTuple) return wrong_kind(path, "tuple", *object);
    if (object->items.size() > limits::kTensorRankMax) {
      return fail(Errc::kLimit, path, "more than 8 dimensions");
    }
    for (std::size_t i = 0; i < object->items.size(); ++i) {
      if (!take(path.element(i), machine_.object(object->items[i]), out.emplace_back())) {
        return false;
      }
    }
    return true;
  }

  bool read_handle(IpcTensor& out) {
    if (is_raw_) {
      RawIpcHandle& raw = out.handle.emplace<RawIpcHandle>();
      return read_attribute("_ipc_handle_reserved", raw.handle) &&
             read_attribute("_nbytes", raw.nbytes);
    }
    const PickleObject* object = find("handle");
    if (object == nullptr) return false;
    const Path root;
    const Path path = root.field("handle");
    if (object->kind != Kind::kTuple) return wrong_kind(path, "tuple", *object);
    TorchIpcHandle& handle = out.handle.emplace<TorchIpcHandle>();
    return take_all(path, *object, handle.device, handle.handle, handle.storage_size_bytes,
                    handle.storage_offset_bytes, handle.ref_counter_handle,
                    handle.ref_counter_offset, handle.event_handle, handle.event_sync_required);
  }

  template <class... T>
  bool take_all(const Path& path, const PickleObject& tuple, T&... out) {
    if (tuple.items.size() != sizeof...(out)) {
      return fail(Errc::kWrongLength, path,
                  "expected tuple of length " + std::to_string(sizeof...(out)) + ", got " +
                      std::to_string(tuple.items.size()));
    }
    std::size_t index = 0;
    const auto take_next = [&](auto& each) {
      const std::size_t at = index++;
      return take(path.element(at), machine_.object(tuple.items[at]), each);
    };
    return (take_next(out) && ...);
  }

  const PickleMachine& machine_;
  const PickleObject* dict_ = nullptr;
  bool is_raw_ = false;
  Error error_;
};

}  // namespace

Result<IpcTensor> read_pickle(ByteView pickle) {
  PickleMachine machine(pickle);
  const Result<std::size_t> root = machine.run();
  if (!root.ok()) return root.error();
  WrapperReader reader(machine);
  IpcTensor tensor;
  if (!reader.read(*root, tensor)) return reader.error();
  if (tensor.shape.size() != tensor.stride.size()) {
    return Error{Errc::kWrongLength, "$.stride",
                 "expected " + std::to_string(tensor.shape.size()) + " strides, got " +
                     std::to_string(tensor.stride.size())};
  }
  return tensor;
}

}  // namespace kvc
