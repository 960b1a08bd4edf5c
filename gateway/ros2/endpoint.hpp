#pragma once

#include <cstddef>
#include <cstdint>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/DataWriterListener.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>

#include "base/mutex.hpp"
#include "gateway/convert/encoded_message.hpp"
#include "gateway/ros2/qos.hpp"
#include "gateway/ros2/raw_type.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway::ros2 {

class Participant;

using eprosima::fastrtps::rtps::GUID_t;
using eprosima::fastrtps::rtps::SampleIdentity;

/// A DDS topic, with the settings of an endpoint on it.
struct EndpointSpec {
  std::string topic;  ///< "rt/chatter"
  std::string type;   ///< "std_msgs::msg::dds_::String_"
  Qos qos;
  std::string user_data = {};  ///< put_user_data()
};

/// Events of an endpoint. All callbacks run in threads of DDS and must not block.
struct EndpointEvents {
  std::function<void()> matched;  ///< matched or lost endpoints of its topic
};

struct Received {
  std::span<const std::byte> bytes;  ///< valid during the call
  const Buffer& within;              ///< memory that holds them and may be kept, empty: copy them
  std::size_t too_large = 0;  ///< size of a message above the limit, which has no bytes, 0: none
  const eprosima::fastdds::dds::SampleInfo& info;
};

/// Reads a topic. Messages of the participant itself are left out. Thread-safe.
class Reader final : private eprosima::fastdds::dds::DataReaderListener {
 public:
  /// Called for one message at a time.
  using Hear = std::function<void(const Received&)>;
  /// Provides memory to receive a message of this size. Empty: use any memory. Must not block.
  using Lend = std::function<WritableBuffer(std::size_t)>;

  Reader(std::shared_ptr<Participant> participant, Hear on_message, EndpointEvents events,
         Lend lend = {});
  ~Reader() override { close(); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  Result<void> open(const EndpointSpec& spec);
  /// When it returns, no callback is running, and none will. Do not call it from inside `hear`.
  void close();
  [[nodiscard]] GUID_t guid() const { return guid_; }
  [[nodiscard]] std::size_t matched() const;

 private:
  void on_data_available(eprosima::fastdds::dds::DataReader* reader) override;
  void on_subscription_matched(
      eprosima::fastdds::dds::DataReader* reader,
      const eprosima::fastdds::dds::SubscriptionMatchedStatus& info) override;

  const std::shared_ptr<Participant> participant_;
  const EndpointEvents events_;
  const Lend lend_;
  eprosima::fastdds::dds::DataReader* reader_ = nullptr;
  std::string topic_;
  GUID_t guid_;
  Mutex hearing_;
  Hear hear_ HYPHOS_GUARDED_BY(hearing_);        // null: closed
  RawSample spare_ HYPHOS_GUARDED_BY(hearing_);  // memory for the next message
  mutable Mutex matching_;
  std::set<GUID_t> matched_ HYPHOS_GUARDED_BY(matching_);
};

/// Writes a topic. Thread-safe.
class Writer final : private eprosima::fastdds::dds::DataWriterListener {
 public:
  Writer(std::shared_ptr<Participant> participant, EndpointEvents events);
  ~Writer() override { close(); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  Result<void> open(const EndpointSpec& spec);
  void close();
  /// Sends in the calling thread. `related` is the message to which this one replies, or the reader
  /// of the reply. Returns the identity of the message. Errors: disconnected (closed), overloaded
  /// (too large), corrupt (not CDR), io.
  Result<SampleIdentity> write(std::span<const std::byte> message,
                               const SampleIdentity& related = SampleIdentity::unknown()) {
    return write(EncodedMessage::Parts{message}, related);
  }
  Result<SampleIdentity> write(const EncodedMessage::Parts& message,
                               const SampleIdentity& related = SampleIdentity::unknown());
  [[nodiscard]] GUID_t guid() const { return guid_; }
  [[nodiscard]] std::size_t matched() const;
  [[nodiscard]] bool matches(const GUID_t& reader) const;
  /// The readers that match this writer.
  [[nodiscard]] std::set<GUID_t> readers() const;

 private:
  void on_publication_matched(
      eprosima::fastdds::dds::DataWriter* writer,
      const eprosima::fastdds::dds::PublicationMatchedStatus& info) override;

  const std::shared_ptr<Participant> participant_;
  const EndpointEvents events_;
  std::string topic_;
  GUID_t guid_;
  SharedMutex writing_;
  eprosima::fastdds::dds::DataWriter* writer_ HYPHOS_GUARDED_BY(writing_) = nullptr;
  mutable Mutex matching_;
  std::set<GUID_t> matched_ HYPHOS_GUARDED_BY(matching_);
};

}  // namespace hyphos::gateway::ros2
