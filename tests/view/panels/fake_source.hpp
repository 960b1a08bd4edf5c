#pragma once

#include <google/protobuf/message.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "view/core/source.hpp"
#include "view/core/types.hpp"

namespace hyphos::view {

/// A recording in memory, with the times of its messages in ms.
class FakeSource final : public Source {
 public:
  static constexpr std::int64_t kStart = 1'700'000'000'000'000'000;

  void add(const std::string& name, std::int64_t ms, const google::protobuf::Message& message) {
    Sample sample;
    sample.channel = channel(name, std::string(message.GetTypeName()), Encoding::protobuf);
    sample.time_ns = kStart + ms * 1'000'000;
    sample.payload = Buffer::copy_of(std::string_view(message.SerializeAsString()));
    samples_.push_back(std::move(sample));
    sort();
  }
  void add_attached(const std::string& name, std::int64_t ms, const google::protobuf::Message& head,
                    Buffer buffer) {
    Sample sample;
    sample.channel = channel(name, std::string(head.GetTypeName()), Encoding::attached);
    sample.time_ns = kStart + ms * 1'000'000;
    sample.payload = Buffer::copy_of(std::string_view(head.SerializeAsString()));
    sample.buffers.push_back(std::move(buffer));
    samples_.push_back(std::move(sample));
    sort();
  }
  std::vector<std::string> faults;

  std::string file = "test.mcap";
  bool is_live = false;
  std::int64_t arrived_ns = 0;  ///< live: the samples up to here are there
  const Node* guest = nullptr;  ///< live: for tools that publish
  Metadata recorded;

  std::string title() const override { return file; }
  std::span<const Channel> channels() const override { return channels_; }
  const google::protobuf::DescriptorPool& types() const override { return types_.pool(); }
  void select(const std::set<std::string>& names) override { selected_ = names; }
  TimeRange range() const override {
    if (samples_.empty()) return {};
    const std::int64_t end = samples_.back().time_ns;
    return {samples_.front().time_ns, is_live && arrived_ns != 0 ? std::min(end, arrived_ns) : end};
  }
  const Node* node() const override { return guest; }
  bool live() const override { return is_live; }
  std::size_t advance(std::int64_t until_ns, Sink& sink) override {
    if (is_live && !paused_ && arrived_ns != 0) until_ns = arrived_ns;
    std::size_t count = 0;
    for (const Sample& sample : samples_) {
      if (sample.time_ns <= passed_ || sample.time_ns > until_ns || !shown(sample)) continue;
      sink.take(sample);
      ++count;
    }
    passed_ = std::max(passed_, until_ns);
    last_until = until_ns;
    return count;
  }
  Result<void> seek(std::int64_t time_ns, const Lookback& history, Sink& sink) override {
    sink.clear();
    ++seeks;
    paused_ = true;
    std::set<std::uint32_t> seen;
    std::vector<const Sample*> before;
    for (auto it = samples_.rbegin(); it != samples_.rend(); ++it) {
      if (it->time_ns > time_ns || !shown(*it)) continue;
      const bool first = seen.insert(it->channel).second;
      const std::int64_t past = history.of(channels_[it->channel].name);
      if (first || it->time_ns > time_ns - past) before.push_back(&*it);
    }
    for (auto it = before.rbegin(); it != before.rend(); ++it) sink.take(**it);
    passed_ = time_ns;
    return success();
  }
  void resume(const Lookback& history, Sink& sink) override {
    (void)seek(range().end_ns, history, sink);
    paused_ = false;
    ++resumes;
  }
  std::int64_t first_complete_ns(std::int64_t most_ns) const override {
    std::int64_t complete = range().begin_ns;
    std::set<std::uint32_t> seen;
    for (const Sample& sample : samples_) {
      if (!shown(sample) || sample.time_ns > range().begin_ns + most_ns) continue;
      if (seen.insert(sample.channel).second) complete = std::max(complete, sample.time_ns);
    }
    return complete;
  }
  std::int64_t step(std::int64_t time_ns, int step) const override {
    if (step > 0) {
      for (const Sample& sample : samples_) {
        if (sample.time_ns > time_ns && shown(sample)) return sample.time_ns;
      }
      return time_ns;
    }
    for (auto it = samples_.rbegin(); it != samples_.rend(); ++it) {
      if (it->time_ns < time_ns && shown(*it)) return it->time_ns;
    }
    return time_ns;
  }
  void on_arrival(std::function<void()>) override {}
  Loss loss(std::uint32_t) const override { return {}; }
  std::vector<std::string> problems() const override { return faults; }
  std::size_t memory() const override { return 0; }
  void limit_memory(std::size_t) override {}
  const Metadata& metadata() const override { return recorded; }
  Result<std::string> attachment(std::string_view) const override {
    return Error{Code::not_found, "no attachment", {}};
  }
  const std::set<std::string>& selected() const { return selected_; }
  int seeks = 0;
  int resumes = 0;
  std::int64_t last_until = 0;  ///< of advance()

 private:
  std::uint32_t channel(const std::string& name, const std::string& type, Encoding encoding) {
    for (const Channel& one : channels_) {
      if (one.name == name) return one.id;
    }
    Channel made;
    made.id = static_cast<std::uint32_t>(channels_.size());
    made.name = name;
    made.type = type;
    made.encoding = encoding;
    channels_.push_back(made);
    return made.id;
  }
  bool shown(const Sample& sample) const {
    return selected_.count(channels_[sample.channel].name) > 0;
  }
  void sort() {
    const std::size_t count = samples_.size();
    if (count < 2 || samples_[count - 2].time_ns <= samples_[count - 1].time_ns) return;
    std::stable_sort(samples_.begin(), samples_.end(),
                     [](const Sample& a, const Sample& b) { return a.time_ns < b.time_ns; });
  }

  Types types_;
  std::vector<Channel> channels_;
  std::vector<Sample> samples_;
  std::set<std::string> selected_;
  std::int64_t passed_ = 0;
  bool paused_ = false;  // live
};

}  // namespace hyphos::view
