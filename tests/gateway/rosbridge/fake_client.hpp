#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "gateway/rosbridge/fragments.hpp"
#include "gateway/rosbridge/request.hpp"
#include "gateway/rosbridge/session.hpp"
#include "tests/gateway/fake_graph.hpp"

namespace hyphos::gateway::rosbridge {

/// Records the output of a session.
class FakeSink final : public Sink {
 public:
  struct Sent {
    OutputClass output_class = 0;
    std::uint32_t depth = 0;
    bool binary = false;
    std::string bytes;
  };

  std::size_t send(OutputClass output_class, std::uint32_t depth,
                   std::span<const Frame> unit) override {
    const std::lock_guard lock(mutex_);
    for (const Frame& frame : unit) {
      Sent& sent = sent_.emplace_back();
      sent.output_class = output_class;
      sent.depth = depth;
      sent.binary = frame.binary;
      for (const Buffer& part : frame.parts) sent.bytes += part.text();
    }
    changed_.notify_all();
    return drops_;
  }
  void close(net::CloseCode code, std::string_view) override {
    const std::lock_guard lock(mutex_);
    closed_ = code;
  }
  void wake_at(std::int64_t) override {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    changed_.notify_all();
  }

  /// Returns the next output. The test fails if there is none.
  Sent next() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(20), [&] { return !sent_.empty(); })) {
      ADD_FAILURE() << "no output";
      return {};
    }
    Sent sent = std::move(sent_.front());
    sent_.pop_front();
    return sent;
  }
  [[nodiscard]] bool empty() {
    const std::lock_guard lock(mutex_);
    return sent_.empty();
  }
  [[nodiscard]] std::optional<net::CloseCode> closed() {
    const std::lock_guard lock(mutex_);
    return closed_;
  }
  bool wait_for_wake() {
    std::unique_lock lock(mutex_);
    const bool woken = changed_.wait_for(lock, std::chrono::seconds(20), [&] { return woken_; });
    woken_ = false;
    return woken;
  }
  /// Simulates `drops` dropped messages for each unit sent.
  void drop(std::size_t drops) {
    const std::lock_guard lock(mutex_);
    drops_ = drops;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Sent> sent_;
  std::optional<net::CloseCode> closed_;
  bool woken_ = false;
  std::size_t drops_ = 0;
};

/// A client without a socket.
class FakeClient {
 public:
  explicit FakeClient(GraphFacade& facade, const Options& options = {}, bool authorized = true,
                      const std::string& name = "rosbridge test")
      : params(facade.parameters().open([] {})),
        session(facade, *params, {name}, options, sink, authorized) {}

  void say(std::string json) {
    json.reserve(json.size() + net::kPadding);
    session.text(json);
  }
  void say_bytes(std::string bytes) {
    bytes.reserve(bytes.size() + net::kPadding);
    session.binary(std::as_bytes(std::span(bytes)));
  }
  std::string on_message() { return sink.next().bytes; }
  /// True if there is no output besides the reply to a new call.
  bool hears_nothing() {
    say(R"({"op":"call_service","service":"/rosapi/get_param_names","id":"mark"})");
    return on_message() == R"({"op":"service_response","service":"/rosapi/get_param_names",)"
                           R"("values":{"names":[]},"result":true,"id":"mark"})";
  }

  FakeSink sink;
  std::unique_ptr<NodeParams> params;
  Session session;
};

/// A graph facade with a few types.
class Robot : public testing::Test {
 protected:
  Robot() {
    facade.types().add_message(
        {"std_msgs/String", "992ce8a1687cec8c8bd883ec73ca41d1", "", "string data\n"});
    facade.types().add_message(
        {"std_msgs/Float64", "fdb28210bfa9d7c91146260178d9a584", "", "float64 data\n"});
    facade.types().add_message({"rospy_tutorials/AddTwoIntsRequest", "", "", "int64 a\nint64 b\n"});
    facade.types().add_message({"rospy_tutorials/AddTwoIntsResponse", "", "", "int64 sum\n"});
    facade.types().add_service({"rospy_tutorials/AddTwoInts", "", "",
                                "rospy_tutorials/AddTwoIntsRequest",
                                "rospy_tutorials/AddTwoIntsResponse"});
  }
  FakeGraph facade;
};

/// Joins the fragments of the next message. They must be consecutive and of at most `most`
/// characters. Returns the message and the number of fragments, or an empty message if another
/// operation arrives.
inline std::pair<std::string, int> joined_fragments(FakeClient& client, std::size_t limit,
                                                    std::size_t most) {
  Fragments fragments(limit);
  RequestParser parser;
  for (int count = 0;; ++count) {
    std::string text = client.on_message();
    text.reserve(text.size() + net::kPadding);
    auto parsed = parser.parse(text);
    EXPECT_EQ(parsed.request.op, "fragment");
    if (parsed.request.op != "fragment") return {};
    EXPECT_EQ(parsed.request.num, count);
    EXPECT_LE(parsed.request.data.size(), most);
    auto whole = fragments.take(std::move(parsed.request)).or_throw();
    if (whole) return {std::move(*whole), count + 1};
  }
}

}  // namespace hyphos::gateway::rosbridge
