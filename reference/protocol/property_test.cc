// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Properties of the codec over random values. RapidCheck prints the seed of every run, and how to
// repeat a failure (RC_PARAMS).
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <bit>

#include "kvc/protocol/codec.h"
#include "kvc/protocol/pickle.h"

namespace kvc {
namespace {

// Writes a value as a peer may: any width of integer that holds it, any header that holds the size.
// It shares no code with the encoder. The choices come from `choices`, one byte each.
class LooseWriter {
 public:
  explicit LooseWriter(std::vector<std::uint8_t> choices) : choices_(std::move(choices)) {}

  void integer(Int value) {
    std::vector<std::uint8_t> leads;  // those of fixed width that hold the value
    const std::optional<std::int64_t> number = value.as_i64();
    for (std::uint8_t i = 0; i < 4; ++i) {
      const unsigned bits = 8U << i;
      const bool fits_unsigned = !value.is_negative() && std::bit_width(value.bits()) <= bits;
      if (fits_unsigned) leads.push_back(static_cast<std::uint8_t>(0xcc + i));
      const std::int64_t most = static_cast<std::int64_t>(~std::uint64_t{0} >> (65 - bits));
      const bool fits_signed = number.has_value() && *number <= most && *number >= -most - 1;
      if (fits_signed) leads.push_back(static_cast<std::uint8_t>(0xd0 + i));
    }
    const bool fits_fixint = number.has_value() && *number >= -32 && *number < 128;
    const std::size_t choice = choose(leads.size() + (fits_fixint ? 1 : 0));
    if (choice == leads.size()) {
      bytes.push_back(static_cast<std::uint8_t>(value.bits()));
      return;
    }
    bytes.push_back(leads[choice]);
    big_endian(value.bits(), 1U << (leads[choice] & 3));
  }

  void text(std::string_view value) {
    header(value.size(), 32, 0xa0, {0xd9, 0xda, 0xdb});
    bytes.insert(bytes.end(), value.begin(), value.end());
  }

  void array(std::size_t size) { header(size, 16, 0x90, {0, 0xdc, 0xdd}); }
  void map(std::size_t size) { header(size, 16, 0x80, {0, 0xde, 0xdf}); }

  std::size_t choose(std::size_t num_choices) {
    if (choices_.empty()) return 0;
    return choices_[next_++ % choices_.size()] % num_choices;
  }

  Bytes bytes;

 private:
  // leads: those with a length of 1, 2 and 4 bytes; 0 where there is none.
  void header(std::size_t size, std::size_t fix_end, std::uint8_t fix_lead,
              std::array<std::uint8_t, 3> leads) {
    std::vector<unsigned> widths;  // 0: the size is in the lead
    if (size < fix_end) widths.push_back(0);
    if (leads[0] != 0 && size <= 0xff) widths.push_back(1);
    if (size <= 0xffff) widths.push_back(2);
    widths.push_back(4);
    const unsigned width = widths[choose(widths.size())];
    if (width == 0) {
      bytes.push_back(static_cast<std::uint8_t>(fix_lead + size));
      return;
    }
    bytes.push_back(leads[width / 2]);
    big_endian(size, width);
  }

  void big_endian(std::uint64_t value, unsigned num_bytes) {
    for (unsigned i = num_bytes; i > 0; --i) {
      bytes.push_back(static_cast<std::uint8_t>(value >> (8 * (i - 1))));
    }
  }

  std::vector<std::uint8_t> choices_;
  std::size_t next_ = 0;
};

// Integers near the edges of all widths, of both signs.
rc::Gen<Int> any_int() {
  return rc::gen::map(rc::gen::tuple(rc::gen::arbitrary<std::uint64_t>(), rc::gen::inRange(0, 64),
                                     rc::gen::arbitrary<bool>()),
                      [](const std::tuple<std::uint64_t, int, bool>& parts) {
                        const std::uint64_t bits = std::get<0>(parts) >> std::get<1>(parts);
                        if (!std::get<2>(parts)) return Int(bits);
                        return Int(static_cast<std::int64_t>(bits >> 1) * -1 - 1);
                      });
}

rc::Gen<std::string> any_text() {
  const auto piece = rc::gen::element<std::string>("a", "Z", "7", "-", "\"", "é", "語", "\n", "😀");
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece),
                      [](const std::vector<std::string>& pieces) {
                        std::string text;
                        for (const std::string& each : pieces) text += each;
                        return text;
                      });
}

rc::Gen<IntArray> any_int_array() {
  return rc::gen::map(rc::gen::container<std::vector<Int>>(any_int()),
                      [](const std::vector<Int>& values) { return IntArray::of(values); });
}

rc::Gen<Key> any_key() {
  return rc::gen::build<Key>(
      rc::gen::set(&Key::model_name, any_text()), rc::gen::set(&Key::world_size, any_int()),
      rc::gen::set(&Key::worker_id, rc::gen::map(rc::gen::maybe(any_int()),
                                                 [](const rc::Maybe<Int>& maybe) {
                                                   return maybe ? OptionalInt(*maybe)
                                                                : std::nullopt;
                                                 })),
      rc::gen::set(&Key::token_ids, any_int_array()), rc::gen::set(&Key::start, any_int()),
      rc::gen::set(&Key::end, any_int()), rc::gen::set(&Key::request_id, any_text()),
      rc::gen::set(&Key::cache_salt, rc::gen::element<std::string>("", "tenant", "ключ")));
}

void write(LooseWriter& writer, const IntArray& values) {
  writer.array(values.size());
  for (const Int value : values) writer.integer(value);
}

// A Key with its fields from a random one on, in a circle, and sometimes an unknown field.
Bytes loosely(const Key& key, std::vector<std::uint8_t> choices) {
  LooseWriter writer(std::move(choices));
  const bool with_unknown = writer.choose(2) == 1;
  writer.map(with_unknown ? 9 : 8);
  const std::size_t first = writer.choose(8);
  if (with_unknown) {
    writer.text("unknown");
    writer.array(1);
    writer.map(0);
  }
  for (std::size_t i = 0; i < 8; ++i) {
    switch ((first + i) % 8) {
      case 0:
        writer.text("model_name");
        writer.text(key.model_name);
        break;
      case 1:
        writer.text("world_size");
        writer.integer(key.world_size);
        break;
      case 2:
        writer.text("worker_id");
        if (key.worker_id.has_value()) {
          writer.integer(*key.worker_id);
        } else {
          writer.bytes.push_back(0xc0);
        }
        break;
      case 3:
        writer.text("token_ids");
        write(writer, key.token_ids);
        break;
      case 4:
        writer.text("start");
        writer.integer(key.start);
        break;
      case 5:
        writer.text("end");
        writer.integer(key.end);
        break;
      case 6:
        writer.text("request_id");
        writer.text(key.request_id);
        break;
      default:
        writer.text("cache_salt");
        writer.text(key.cache_salt);
    }
  }
  return std::move(writer.bytes);
}

RC_GTEST_PROP(CodecProperty, AnIntSurvivesEveryEncoding, ()) {
  const Int value = *any_int();
  const Bytes shortest = encoded(value);
  RC_ASSERT(decode<Int>(shortest).value() == value);
  LooseWriter writer(*rc::gen::arbitrary<std::vector<std::uint8_t>>());
  writer.integer(value);
  RC_ASSERT(decode<Int>(writer.bytes).value() == value);
  RC_ASSERT(writer.bytes.size() >= shortest.size());
}

RC_GTEST_PROP(CodecProperty, AKeySurvivesEveryEncoding, ()) {
  const Key key = *any_key();
  const Bytes shortest = encoded(key);
  const Result<Key> again = decode<Key>(shortest);
  RC_ASSERT(again.ok());
  RC_ASSERT(*again == key);
  const Bytes loose = loosely(key, *rc::gen::arbitrary<std::vector<std::uint8_t>>());
  const Result<Key> other = decode<Key>(loose);
  RC_ASSERT(other.ok());
  RC_ASSERT(*other == key);
  RC_ASSERT(encoded(*other) == shortest);
}

RC_GTEST_PROP(CodecProperty, NoPrefixOfAKeyIsAKey, ()) {
  const Bytes frame = loosely(*any_key(), *rc::gen::arbitrary<std::vector<std::uint8_t>>());
  const auto size = *rc::gen::inRange<std::size_t>(0, frame.size());
  const Bytes cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size));
  RC_ASSERT(decode<Key>(cut).error().code == Errc::kTruncated);
}

// Whatever the bytes are, every type says yes or no, and what it took it can write and take again.
RC_GTEST_PROP(CodecProperty, AnyBytesAreTakenOrRefused, ()) {
  Bytes frame = *rc::gen::arbitrary<Bytes>();
  if (*rc::gen::arbitrary<bool>()) {  // nearly right is harder than noise
    frame = loosely(*any_key(), *rc::gen::arbitrary<std::vector<std::uint8_t>>());
    frame[*rc::gen::inRange<std::size_t>(0, frame.size())] = *rc::gen::arbitrary<std::uint8_t>();
  }
  for (int type = 0; type < kNumWireTypes; ++type) {
    const Result<Value> value = decode_value(static_cast<WireType>(type), frame);
    if (!value.ok()) {
      RC_ASSERT(!value.error().path.empty());
      continue;
    }
    const Bytes again = encode_value(*value);
    RC_ASSERT(decode_value(static_cast<WireType>(type), again).value() == *value);
  }
}

RC_GTEST_PROP(PickleProperty, AChangedByteIsReadOrRefused, ()) {
  IpcTensor tensor;
  tensor.handle =
      RawIpcHandle{*rc::gen::container<Bytes>(64, rc::gen::arbitrary<std::uint8_t>()), *any_int()};
  tensor.dtype = *rc::gen::element<std::string>("bfloat16", "uint8", "float8_e4m3fn");
  tensor.shape = *rc::gen::container<std::vector<Int>>(4, any_int());
  tensor.stride = *rc::gen::container<std::vector<Int>>(4, any_int());
  tensor.storage_offset = *any_int();
  tensor.device_uuid = *any_text();
  Bytes pickle = write_pickle(tensor);
  RC_ASSERT(read_pickle(pickle).value() == tensor);
  pickle[*rc::gen::inRange<std::size_t>(0, pickle.size())] = *rc::gen::arbitrary<std::uint8_t>();
  const Result<IpcTensor> changed = read_pickle(pickle);
  if (changed.ok()) RC_ASSERT(read_pickle(write_pickle(*changed)).value() == *changed);
}

}  // namespace
}  // namespace kvc
