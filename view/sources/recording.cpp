#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>

#include "record/mcap_reader.hpp"
#include "view/core/types.hpp"
#include "view/sources/open.hpp"
#include "view/sources/ros_message.hpp"
#include "view/sources/stored.hpp"

namespace hyphos::view {
namespace {

// A chunk stays in memory as long as a part of it is used. So small messages are copied.
constexpr std::size_t kCopyBelow = 64U << 10U;
constexpr std::size_t kMaxCache = 12U << 20U;  // three usual chunks. More make nothing faster
constexpr std::size_t kMaxLatched = 64;        // earlier values of a latched channel
/// Later times of a file, which has 64 bits for them, are shown as this one: the year 2116. So sums
/// and differences with the times of other sources do not overflow.
constexpr std::int64_t kLatest = std::int64_t{1} << 62;

std::int64_t signed_time(std::uint64_t ns) {
  return static_cast<std::int64_t>(std::min(ns, static_cast<std::uint64_t>(kLatest)));
}
/// The last time of the file that is shown at `ns`.
std::uint64_t until(std::int64_t ns) {
  if (ns >= kLatest) return std::numeric_limits<std::uint64_t>::max();
  return ns > 0 ? static_cast<std::uint64_t>(ns) : 0;
}
/// The first time of the file that is not shown at `ns`.
std::uint64_t after(std::int64_t ns) { return ns >= kLatest ? until(ns) : until(ns) + 1; }

bool is_latched(const record::mcap::Channel& channel) {
  // ROS 2 writes its policies as YAML: transient local has the number 1 or its name.
  if (const auto qos = channel.metadata.find("offered_qos_profiles");
      qos != channel.metadata.end()) {
    return qos->second.find("durability: 1") != std::string::npos ||
           qos->second.find("durability: transient_local") != std::string::npos;
  }
  const auto policy = channel.metadata.find("hyphos.policy");
  google::protobuf::Struct values;
  if (policy == channel.metadata.end() ||
      !google::protobuf::util::JsonStringToMessage(policy->second, &values).ok()) {
    return channel.topic.ends_with("tf_static");
  }
  const auto latched = values.fields().find("latched");
  return latched != values.fields().end() && latched->second.bool_value();
}

std::string text_of(const record::mcap::Channel& channel, const char* key) {
  const auto found = channel.metadata.find(key);
  return found == channel.metadata.end() ? std::string() : found->second;
}

Encoding encoding_of(const record::mcap::Channel& channel) {
  const std::string name = text_of(channel, "hyphos.encoding");
  if (name == "protobuf") return Encoding::protobuf;
  if (name == "attached") return Encoding::attached;
  if (name == "struct") return Encoding::structure;
  if (name == "custom") return Encoding::custom;
  if (name == "bytes") return Encoding::bytes;
  return channel.message_encoding == "protobuf" ? Encoding::protobuf : Encoding::bytes;
}

class Recording : public Source {
 public:
  Recording(std::unique_ptr<record::McapReader> reader, std::string name)
      : reader_(std::move(reader)), name_(std::move(name)) {
    add_types();
    for (const auto& [id, channel] : reader_->channels()) add(channel);
    position_ns_ = Recording::range().begin_ns - 1;
  }

  std::string title() const override { return name_; }
  bool refresh() override {
    if (!reader_->refresh()) return false;
    for (const auto& [id, channel] : reader_->channels()) {
      if (id >= view_id_.size() || view_id_[id] < 0) {
        add_types();
        add(channel);
      }
    }
    for (Channel& channel : channels_) {
      channel.messages = 0;
      for (std::size_t id = 0; id < view_id_.size(); ++id) {
        if (view_id_[id] == static_cast<int>(channel.id)) {
          channel.messages += reader_->count(static_cast<std::uint16_t>(id));
        }
      }
    }
    select(names_);
    return true;
  }
  std::span<const Channel> channels() const override { return channels_; }
  const google::protobuf::DescriptorPool& types() const override { return types_.pool(); }
  bool live() const override { return false; }
  void on_arrival(std::function<void()> /*wake*/) override {}
  std::size_t memory() const override { return reader_->memory(); }
  void limit_memory(std::size_t bytes) override {
    reader_->limit_memory(std::min(bytes, kMaxCache));
  }
  const Metadata& metadata() const override { return reader_->metadata(); }
  Result<std::string> attachment(std::string_view name) const override {
    return reader_->attachment(name);
  }

  TimeRange range() const override {
    return {signed_time(reader_->start_ns()), signed_time(reader_->end_ns())};
  }

  void select(const std::set<std::string>& names) override {
    selected_ = {};
    names_ = names;
    for (std::size_t id = 0; id < view_id_.size(); ++id) {
      if (view_id_[id] >= 0 && names.contains(channels_[at(id)].name)) {
        selected_.add(static_cast<std::uint16_t>(id));
      }
    }
    cursor_.reset();
  }

  std::size_t advance(std::int64_t until_ns, Sink& sink) override {
    if (!cursor_) cursor_.emplace(*reader_, selected_, position_ns_ < 0 ? 0 : after(position_ns_));
    std::size_t passed = 0;
    std::size_t bytes = 0;
    while (bytes < kMaxPassed) {
      auto message = cursor_->next(until(until_ns));
      if (!message) {
        position_ns_ = std::max(position_ns_, until_ns);
        break;
      }
      position_ns_ = signed_time(message->log_ns);
      bytes += message->data.size();
      pass(*message, sink);
      ++passed;
    }
    return passed;
  }

  Result<void> seek(std::int64_t time_ns, const Lookback& history, Sink& sink) override {
    sink.clear();
    // Each channel begins at its own instant: a plot of an hour reads no hour of images.
    std::map<std::int64_t, std::vector<std::uint32_t>> begins;
    for (const Channel& channel : channels_) {
      if (!names_.contains(channel.name)) continue;
      const std::int64_t past =
          std::min(history.of(channel.name), std::max<std::int64_t>(time_ns, 0));
      begins[time_ns - past].push_back(channel.id);
    }
    for (const record::StoredMessage& message : earlier(begins)) pass(message, sink);
    record::ChannelSet reached;
    for (auto at = begins.begin(); at != begins.end(); ++at) {
      for (const std::uint32_t id : at->second) add_ids(id, reached);
      const auto next = std::next(at);
      record::McapCursor cursor(*reader_, reached, after(at->first));
      const std::int64_t end = next == begins.end() ? time_ns : next->first;
      while (auto message = cursor.next(until(end))) pass(*message, sink);
    }
    cursor_.reset();
    position_ns_ = time_ns;
    return success();
  }

  std::int64_t first_complete_ns(std::int64_t most_ns) const override {
    const std::int64_t begin = range().begin_ns;
    std::int64_t complete = begin;
    for (const Channel& channel : channels_) {
      if (!names_.contains(channel.name)) continue;
      record::ChannelSet one;
      add_ids(channel.id, one);
      record::McapCursor cursor(*reader_, one, 0);
      const auto first = cursor.next(until(begin + most_ns));
      if (first) complete = std::max(complete, signed_time(first->log_ns));
    }
    return complete;
  }

  std::int64_t step(std::int64_t time_ns, int step) const override {
    if (step >= 0) {
      record::McapCursor cursor(*reader_, selected_, after(time_ns));
      const auto next = cursor.next_time();
      return next ? signed_time(*next) : time_ns;
    }
    if (time_ns <= 0) return time_ns;
    const auto last = reader_->last(selected_, until(time_ns - 1));
    return last.empty() ? time_ns : signed_time(last.back().log_ns);
  }

  Loss loss(std::uint32_t channel) const override {
    Loss loss;
    if (channel >= channels_.size()) return loss;
    loss.received = channels_[channel].messages;
    loss.corrupt = corrupt_[channel];
    for (std::size_t id = 0; id < view_id_.size(); ++id) {
      if (view_id_[id] == static_cast<int>(channel)) {
        loss.corrupt += reader_->corrupt(static_cast<std::uint16_t>(id));
      }
    }
    return loss;
  }

  std::vector<std::string> problems() const override {
    std::vector<std::string> out = problems_;
    for (const std::string& problem : reader_->problems()) out.push_back(name_ + ": " + problem);
    return out;
  }

 private:
  [[nodiscard]] std::size_t at(std::size_t id) const {
    return static_cast<std::size_t>(view_id_[id]);
  }

  void add_types() {
    std::set<std::string> refused;
    for (const auto& [id, schema] : reader_->schemas()) {
      if (schema.encoding != "protobuf" || schema.data.empty()) continue;
      const auto added = types_.add(schema.data);
      if (!added && refused.insert(added.error().to_string()).second) {
        problems_.push_back(name_ + ": type " + schema.name + ": " + added.error().to_string());
      }
    }
  }

  /// Channels of the file with one name, type and encoding are one channel here.
  void add(const record::mcap::Channel& from) {
    Channel channel;
    channel.name = from.topic;
    channel.encoding = encoding_of(from);
    channel.type = text_of(from, "hyphos.type");
    const auto schema = reader_->schemas().find(from.schema_id);
    if (channel.type.empty() && schema != reader_->schemas().end()) {
      channel.type = schema->second.name;
    }
    channel.latched = is_latched(from);
    if (from.message_encoding == "cdr" || from.message_encoding == "ros1") {
      adopt_ros(from, channel);
    } else {
      channel.problem = problem_of(channel);
    }
    const auto same = [&](const Channel& other) {
      return other.name == channel.name && other.type == channel.type &&
             other.encoding == channel.encoding;
    };
    const bool latched = channel.latched;
    auto found = std::find_if(channels_.begin(), channels_.end(), same);
    if (found == channels_.end()) {
      channel.id = static_cast<std::uint32_t>(channels_.size());
      channels_.push_back(std::move(channel));
      corrupt_.push_back(0);
      found = channels_.end() - 1;
    }
    found->messages += reader_->count(from.id);
    found->latched = found->latched || latched;
    if (from.id >= view_id_.size()) view_id_.resize(from.id + std::size_t{1}, -1);
    view_id_[from.id] = static_cast<int>(found->id);
  }

  /// A channel of ROS gets the type and the encoding of its converted messages.
  void adopt_ros(const record::mcap::Channel& from, Channel& channel) {
    const auto schema = reader_->schemas().find(from.schema_id);
    const bool known =
        schema != reader_->schemas().end() &&
        (schema->second.encoding == "ros2msg" || schema->second.encoding == "ros1msg");
    if (!known) {
      channel.problem = "the recording has no definition of " + channel.type + " in ros2msg";
      return;
    }
    const auto wire = from.message_encoding == "cdr" ? ros::Wire::cdr : ros::Wire::ros1;
    auto made = ros::RosMessage::make(schema->second.name, schema->second.data, wire, types_);
    if (!made) {
      channel.problem = made.error().to_string();
      return;
    }
    channel.type = (*made)->type();
    channel.encoding = (*made)->attached() ? Encoding::attached : Encoding::protobuf;
    ros_[from.id] = std::move(*made);
  }

  [[nodiscard]] std::string problem_of(const Channel& channel) const {
    switch (channel.encoding) {
      case Encoding::protobuf:
      case Encoding::attached:
        return types_.find(channel.type) != nullptr
                   ? ""
                   : "the recording has no definition of " + channel.type +
                         ". Record with --proto-path";
      case Encoding::structure:
      case Encoding::custom:
      case Encoding::none:
        return channel.type + " is a type of C++ without a definition, so its bytes are shown";
      case Encoding::bytes:
        break;
    }
    return "";
  }

  /// Adds the ids in the file of a channel.
  void add_ids(std::uint32_t channel, record::ChannelSet& to) const {
    for (std::size_t id = 0; id < view_id_.size(); ++id) {
      if (view_id_[id] == static_cast<int>(channel)) to.add(static_cast<std::uint16_t>(id));
    }
  }

  /// The messages before the past of a seek: the last one of each channel, and more of a latched
  /// one. Sorted by time.
  std::vector<record::StoredMessage> earlier(
      const std::map<std::int64_t, std::vector<std::uint32_t>>& begins) {
    std::vector<record::StoredMessage> out;
    for (const auto& [begin, ids] : begins) {
      for (const std::uint32_t id : ids) {
        record::ChannelSet one;
        add_ids(id, one);
        auto last = reader_->last(one, until(begin), channels_[id].latched ? kMaxLatched : 1);
        std::move(last.begin(), last.end(), std::back_inserter(out));
      }
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const auto& a, const auto& b) { return a.log_ns < b.log_ns; });
    return out;
  }

  void pass(const record::StoredMessage& from, Sink& sink) {
    const std::size_t id = at(from.channel);
    const Channel& channel = channels_[id];
    Sample sample;
    sample.channel = channel.id;
    sample.time_ns = signed_time(from.log_ns);
    sample.publish_ns = signed_time(from.publish_ns);
    sample.sequence = from.sequence;
    const Buffer data =
        from.data.size() < kCopyBelow ? Buffer::copy_of(from.data.bytes()) : from.data;
    const auto ros = ros_.find(from.channel);
    if (channel.encoding == Encoding::attached || ros != ros_.end()) {
      auto parts = ros != ros_.end() ? ros->second->convert(data) : split_attached(data);
      if (!parts) {
        ++corrupt_[id];
        return;
      }
      sample.payload = std::move(parts->head);
      sample.buffers = std::move(parts->buffers);
    } else {
      sample.payload = data;
    }
    sink.take(sample);
  }

  std::unique_ptr<record::McapReader> reader_;
  std::string name_;
  Types types_;
  std::map<std::uint16_t, std::unique_ptr<ros::RosMessage>> ros_;  // by id in the file
  std::vector<Channel> channels_;
  std::vector<std::uint64_t> corrupt_;  // by view id: messages that could not be split
  std::vector<int> view_id_;            // by id in the file, -1: none
  std::set<std::string> names_;
  record::ChannelSet selected_;
  std::optional<record::McapCursor> cursor_;
  std::int64_t position_ns_ = 0;
  std::vector<std::string> problems_;
};

}  // namespace

Result<std::unique_ptr<Source>> open_recording(const std::string& path,
                                               const OpenOptions& options) {
  record::McapReader::Options reading;
  reading.cache_bytes = std::min(options.memory_bytes, kMaxCache);
  reading.progress = options.progress;
  reading.growing = options.growing;
  auto reader = record::McapReader::open(path, std::move(reading));
  if (!reader) return reader.error();
  return std::unique_ptr<Source>(std::make_unique<Recording>(
      std::move(*reader), std::filesystem::path(path).filename().string()));
}

}  // namespace hyphos::view
