#include "hyphos/codec.hpp"

#include <gtest/gtest.h>

#include <new>
#include <set>

#include "hyphos/wire/head.pb.h"

namespace hyphos {
namespace {

struct Pose {
  double x = 0;
  double y = 0;
  float heading = 0;
  std::int32_t id = 0;
};

struct Named {
  static constexpr std::string_view hyphos_type = "pkg.Named";
  std::int32_t value = 0;
};

/// A type with its own serialize/parse pair: a counted list.
struct Words {
  static constexpr std::string_view hyphos_type = "pkg.Words";
  std::string text;

  [[nodiscard]] std::size_t serialized_size() const { return text.size() + 1; }
  void serialize(std::span<std::byte> out) const {
    out[0] = static_cast<std::byte>(text.size());
    std::memcpy(out.data() + 1, text.data(), text.size());
  }
  static bool parse(std::span<const std::byte> in, Words& out) {
    if (in.empty() || std::to_integer<std::size_t>(in[0]) != in.size() - 1) return false;
    out.text.assign(reinterpret_cast<const char*>(in.data() + 1), in.size() - 1);
    return true;
  }
};

// Any protobuf message is suitable. This one is part of the library.
using Proto = wire::v1::Head;

/// Encodes a value as a publisher does.
template <typename T>
Envelope encode(const T& value) {
  const TypeSupport& support = type_support<T>();
  Envelope envelope;
  envelope.meta.type_hash = support.id.hash;
  if (support.borrow != nullptr) {
    envelope.payload = support.borrow(&value);
  } else {
    WritableBuffer out = WritableBuffer::on_heap(support.encoded_size(&value));
    EXPECT_TRUE(support.encode(&value, out.bytes()));
    envelope.payload = std::move(out).freeze();
  }
  if (support.attach != nullptr) support.attach(&value, envelope.buffers);
  return envelope;
}

/// A decoded value, destroyed as by a subscriber.
template <typename T>
class Decoded {
 public:
  explicit Decoded(const Envelope& envelope) : ok_(type_support<T>().decode(envelope, &storage_)) {}
  ~Decoded() {
    if (ok_) type_support<T>().destroy(&storage_);
  }
  Decoded(const Decoded&) = delete;
  Decoded& operator=(const Decoded&) = delete;
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] const T& value() const {
    return *std::launder(reinterpret_cast<const T*>(&storage_));
  }

 private:
  alignas(T) std::array<std::byte, sizeof(T)> storage_;
  bool ok_;
};

TEST(Codec, a_structure_is_encoded_as_its_bytes) {
  const Pose pose{1.5, -2, 0.25F, 7};
  const Envelope envelope = encode(pose);
  EXPECT_EQ(envelope.payload.size(), sizeof(Pose));
  EXPECT_TRUE(type_support<Pose>().in_place);
  EXPECT_EQ(std::memcmp(envelope.payload.data(), &pose, sizeof pose), 0);
  const Decoded<Pose> back(envelope);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back.value().x, 1.5);
  EXPECT_EQ(back.value().id, 7);
}

TEST(Codec, a_structure_of_another_size_is_refused) {
  Envelope envelope;
  envelope.payload = Buffer::copy_of(std::string(sizeof(Pose) - 1, 'x'));
  EXPECT_FALSE(Decoded<Pose>(envelope).ok());
}

TEST(Codec, bytes_are_not_copied) {
  const Buffer buffer = Buffer::copy_of(std::string_view("raw"));
  const Envelope envelope = encode(buffer);
  EXPECT_EQ(envelope.payload.data(), buffer.data());
  const Decoded<Buffer> back(envelope);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back.value().data(), buffer.data());
}

TEST(Codec, protobuf_uses_its_wire_format) {
  Proto proto;
  proto.set_channel("scan");
  proto.set_sequence(12);
  const Envelope envelope = encode(proto);
  EXPECT_EQ(envelope.payload.text(), proto.SerializeAsString());
  const Decoded<Proto> back(envelope);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back.value().sequence(), 12U);
  EXPECT_EQ(type_support<Proto>().id.name, "hyphos.wire.v1.Head");
}

TEST(Codec, corrupt_protobuf_is_refused) {
  Envelope envelope;
  envelope.payload = Buffer::copy_of(std::string_view("\xff\xff\xff"));
  EXPECT_FALSE(Decoded<Proto>(envelope).ok());
  EXPECT_FALSE(Decoded<Attached<Proto>>(envelope).ok());
}

TEST(Codec, attached_buffers_are_sent_beside_the_head) {
  Attached<Proto> image;
  image.head.set_channel("camera");
  image.buffers.push_back(Buffer::copy_of(std::string(100'000, 'p')));
  image.buffers.push_back(Buffer::copy_of(std::string_view("second")));
  const Envelope envelope = encode(image);
  EXPECT_LT(envelope.payload.size(), 100U);
  ASSERT_EQ(envelope.buffers.size(), 2U);
  EXPECT_EQ(envelope.buffers[0].data(), image.buffers[0].data());
  const Decoded<Attached<Proto>> back(envelope);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back.value().head.channel(), "camera");
  EXPECT_EQ(back.value().buffers[0].data(), image.buffers[0].data());
  EXPECT_EQ(back.value().buffers[1].text(), "second");
}

TEST(Codec, custom_types_use_their_own_functions) {
  const Envelope envelope = encode(Words{"hello"});
  EXPECT_EQ(envelope.payload.size(), 6U);
  const Decoded<Words> back(envelope);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back.value().text, "hello");
  Envelope broken;
  broken.payload = envelope.payload.slice(0, 4);
  EXPECT_FALSE(Decoded<Words>(broken).ok());
}

TEST(Codec, ids_differ_by_type_and_encoding) {
  EXPECT_EQ(type_support<Named>().id.name, "pkg.Named");
  EXPECT_EQ(type_support<Words>().id.encoding, Encoding::custom);
  EXPECT_EQ(type_support<Pose>().id.encoding, Encoding::structure);
  const std::set<std::uint64_t> hashes = {type_support<Pose>().id.hash,
                                          type_support<Named>().id.hash,
                                          type_support<Words>().id.hash,
                                          type_support<Buffer>().id.hash,
                                          type_support<Proto>().id.hash,
                                          type_support<Attached<Proto>>().id.hash,
                                          make_type_id("pkg.Named", Encoding::structure, 8).hash};
  EXPECT_EQ(hashes.size(), 7U);
  EXPECT_EQ(type_support<Named>().id, make_type_id("pkg.Named", Encoding::structure, 4));
}

}  // namespace
}  // namespace hyphos
