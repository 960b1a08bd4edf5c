#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "tests/transport/harness.hpp"

/// The requirements on every transport. Registered transports are tested by name. For another way
/// to create one, write a Factory and add a line to candidates.hpp.
namespace hyphos::transport::testing {

/// Makes started transports that find each other. Each test has its own factory.
class Factory {
 public:
  virtual ~Factory() = default;
  /// Makes a publishing process. A further call after the first process is gone restarts the
  /// process under the same name and address.
  virtual std::shared_ptr<Transport> publisher() = 0;
  /// Makes a process that subscribes to the publisher's channels.
  virtual std::shared_ptr<Transport> subscriber(const std::string& name) = 0;
};

struct Candidate {
  std::string name;
  std::function<std::unique_ptr<Factory>()> make;
};

inline void PrintTo(const Candidate& candidate, std::ostream* out) { *out << candidate.name; }

class Conformance : public ::testing::TestWithParam<Candidate> {
 protected:
  Conformance() : factory_(GetParam().make()) {}

  /// Connects the publisher and one subscriber on `channel`.
  void connect(const ChannelSpec& channel) {
    publisher_ = factory_->publisher();
    subscriber_ = factory_->subscriber("subscriber");
    out_ = publisher_->open(channel, nullptr, &send_events_).or_throw();
    in_ = subscriber_->open(channel, &sink_, nullptr).or_throw();
    ASSERT_TRUE(events_.wait([&] { return send_events_.receivers == 1; }));
  }
  void send_samples(std::uint64_t from, std::uint64_t to, std::size_t size = 64) {
    for (std::uint64_t i = from; i <= to; ++i) publisher_->send(out_, sample(i, size));
  }
  /// True once every message sent to one subscriber was received or counted as lost.
  bool wait_until_settled(std::uint64_t sent) {
    return events_.wait(
        [&] { return sink_.messages.size() + sink_.lost() + send_events_.lost() >= sent; });
  }
  void expect_ordered_and_intact(std::size_t size = 64) {
    const std::lock_guard lock(events_.mutex);
    std::uint64_t last = 0;
    for (const Envelope& message : sink_.messages) {
      ASSERT_TRUE(intact(message, size)) << "message " << message.meta.sequence;
      ASSERT_GT(message.meta.sequence, last);
      last = message.meta.sequence;
    }
  }
  void set(bool TestSink::* flag, bool value) {
    const std::lock_guard lock(events_.mutex);
    sink_.*flag = value;
    events_.changed.notify_all();
  }

  std::unique_ptr<Factory> factory_;
  Events events_;
  TestSink sink_{events_};
  TestSendEvents send_events_{events_};
  // Destroyed first: afterwards, no call reaches the endpoints above.
  std::shared_ptr<Transport> publisher_;
  std::shared_ptr<Transport> subscriber_;
  PortId out_ = 0;
  PortId in_ = 0;
};

}  // namespace hyphos::transport::testing
