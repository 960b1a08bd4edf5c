#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "hyphos_c.h"
#include "tests/node/child.hpp"
#include "tests/node/harness.hpp"

namespace hyphos::test {

inline constexpr hyphos_type kBytes{nullptr, 0, HYPHOS_BYTES, 0};
inline constexpr hyphos_type kNumber{"test.Number", sizeof(std::int64_t), HYPHOS_STRUCTURE, 0};
inline constexpr hyphos_type kImage{"hyphos.msgs.Image", 0, HYPHOS_ATTACHED, 0};
inline constexpr std::int64_t kLong = 20'000'000'000;

/// Owns a handle and ends it in the destructor.
template <typename T, void (*End)(T*)>
class Held {
 public:
  Held() = default;
  Held(Held&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { reset(); }
  void reset() { End(std::exchange(value_, nullptr)); }
  T** out() { return &value_; }
  operator T*() const { return value_; }  // NOLINT: implicit for calls into C

 private:
  T* value_ = nullptr;
};
using CNode = Held<hyphos_node, hyphos_node_close>;
using CPublisher = Held<hyphos_publisher, hyphos_publisher_close>;
using CSubscription = Held<hyphos_subscription, hyphos_subscription_close>;
using CService = Held<hyphos_service, hyphos_service_close>;
using CClient = Held<hyphos_client, hyphos_client_close>;

inline CNode open_node(const std::string& domain, const char* name = "tester") {
  hyphos_node_options options{};
  options.struct_size = sizeof options;
  options.domain = domain.c_str();
  options.process = name;
  CNode node;
  hyphos_error error;
  EXPECT_EQ(hyphos_node_open(name, &options, node.out(), &error), HYPHOS_OK) << error.message;
  return node;
}
inline CPublisher open_publisher(hyphos_node* node, const char* channel,
                                 const hyphos_type& type = kBytes,
                                 const hyphos_policy* policy = nullptr) {
  hyphos_publisher_options options{sizeof options, policy, 0, 0};
  CPublisher publisher;
  hyphos_error error;
  EXPECT_EQ(hyphos_publisher_open(node, channel, &type, &options, publisher.out(), &error),
            HYPHOS_OK)
      << error.message;
  return publisher;
}
inline CSubscription subscribe(hyphos_node* node, const char* channel,
                               hyphos_message_callback callback, void* user,
                               std::int32_t mode = HYPHOS_POLLED, const hyphos_type& type = kBytes,
                               const hyphos_policy* policy = nullptr) {
  hyphos_subscription_options options{sizeof options, policy, mode, 0};
  CSubscription subscription;
  hyphos_error error;
  EXPECT_EQ(
      hyphos_subscribe(node, channel, &type, &options, callback, user, subscription.out(), &error),
      HYPHOS_OK)
      << error.message;
  return subscription;
}
inline std::string text_of(const hyphos_bytes& bytes) {
  return {static_cast<const char*>(bytes.data), bytes.size};
}
inline hyphos_code publish(hyphos_publisher* publisher, const std::string& text) {
  return hyphos_publish(publisher, text.data(), text.size(), nullptr, 0, nullptr, nullptr);
}
inline bool connected(hyphos_publisher* publisher, std::uint32_t listeners = 1) {
  return eventually([&] { return hyphos_publisher_listeners(publisher) == listeners; });
}

/// The received messages as text, and the thread of the last callback.
struct Inbox {
  std::vector<std::string> texts;
  std::thread::id thread;
  static void hear(void* user, const hyphos_message* message) {
    auto& inbox = *static_cast<Inbox*>(user);
    inbox.texts.push_back(text_of(message->payload));
    inbox.thread = std::this_thread::get_id();
  }
};

}  // namespace hyphos::test
