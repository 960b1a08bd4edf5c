#include <google/protobuf/descriptor.h>

#include <algorithm>

#include "hyphos/time.hpp"
#include "view/core/names.hpp"
#include "view/core/types.hpp"
#include "view/sources/open.hpp"

namespace hyphos::view {
namespace {

constexpr const char* kChannelCounters = "hyphos.recording";  // metadata by channel

/// Several sources on one timeline. Each keeps its own times, ids and names, which are translated
/// at this border.
class Joined final : public Source {
 public:
  explicit Joined(std::unique_ptr<Source> first) {
    members_.push_back({std::move(first), {}, 0, {}, {}, {}});
    update();
  }

  Result<void> add(std::unique_ptr<Source> more, Alignment align) {
    if (members_.size() >= kMaxParts) {
      return Error{Code::exhausted,
                   "at most " + std::to_string(kMaxParts) + " sources are shown together",
                   more->title()};
    }
    // The robot is the clock, and its channels keep their names.
    const bool clock = more->live() && !members_.front().source->live();
    members_.insert(clock ? members_.begin() : members_.end(),
                    Member{std::move(more), {}, 0, {}, {}, {}});
    channels_.clear();
    places_.clear();
    metadata_.clear();
    for (Member& each : members_) {
      each.label.clear();
      each.ids.clear();
      each.typed.clear();
    }
    for (std::size_t i = 1; i < members_.size(); ++i) members_[i].label = free_label(i);
    const std::size_t added = clock ? 1 : members_.size() - 1;
    const std::vector<Part> now = parts();
    for (std::size_t i = added; i < members_.size(); ++i) {
      set_offset(i, aligned_offset(now, i, align, 0));
    }
    merge_metadata();
    update();
    return success();
  }

  std::string title() const override {
    std::string all;
    for (const Member& each : members_) {
      if (!all.empty()) all += ", " + each.label + ": ";
      all += each.source->title();
    }
    return all;
  }
  std::span<const Channel> channels() const override { return channels_; }
  const google::protobuf::DescriptorPool& types() const override { return types_.pool(); }
  bool live() const override { return members_.front().source->live(); }

  void select(const std::set<std::string>& names) override {
    for (Member& each : members_) {
      std::set<std::string> own;
      for (const std::string& name : names) {
        if (owner(name) != &each) continue;
        if (each.label.empty()) {
          own.insert(name);
          continue;
        }
        // A name of ROS begins with '/', and the prefix has taken its place.
        own.insert(name.substr(each.label.size()));
        own.insert(name.substr(each.label.size() + 1));
      }
      each.source->select(own);
    }
    update();
  }

  TimeRange range() const override {
    if (live()) {
      const TimeRange robot = members_.front().source->range();
      if (robot.end_ns != 0) return robot;
      const std::int64_t now = wall_now().ns;
      return {now, now};
    }
    TimeRange all;
    for (const Part& each : parts()) {
      if (each.range.end_ns == 0) continue;
      if (all.end_ns == 0) all = each.range;
      all.begin_ns = std::min(all.begin_ns, each.range.begin_ns);
      all.end_ns = std::max(all.end_ns, each.range.end_ns);
    }
    return all;
  }

  std::size_t advance(std::int64_t until_ns, Sink& sink) override {
    const std::int64_t until = live() && !paused_ ? wall_now().ns : until_ns;
    std::size_t passed = 0;
    for (Member& each : members_) {
      Translated to(*this, each, sink);
      passed += each.source->advance(until - each.offset_ns, to);
    }
    update();
    return passed;
  }

  Result<void> seek(std::int64_t time_ns, const Lookback& history, Sink& sink) override {
    sink.clear();
    paused_ = live();
    Result<void> result;
    for (Member& each : members_) {
      if (auto done = seek(each, time_ns, history, sink); !done && result) result = done;
    }
    return result;
  }

  void resume(const Lookback& history, Sink& sink) override {
    sink.clear();
    paused_ = false;
    for (Member& each : members_) {
      Translated to(*this, each, sink);
      if (each.source->live()) {
        each.source->resume(own(each, history), to);
      } else {
        (void)seek(each, wall_now().ns, history, sink);
      }
    }
    update();
  }

  std::int64_t step(std::int64_t time_ns, int step) const override {
    std::int64_t best = time_ns;
    for (const Member& each : members_) {
      const std::int64_t found = each.source->step(time_ns - each.offset_ns, step) + each.offset_ns;
      if (found == time_ns) continue;
      const bool nearer = step > 0 ? found < best : found > best;
      if (best == time_ns || nearer) best = found;
    }
    return best;
  }

  std::int64_t first_complete_ns(std::int64_t most_ns) const override {
    const std::int64_t begin = range().begin_ns;
    std::int64_t complete = begin;
    for (const Member& each : members_) {
      const std::int64_t own = each.source->first_complete_ns(most_ns) + each.offset_ns;
      if (own - begin <= most_ns) complete = std::max(complete, own);
    }
    return complete;
  }

  bool ticks() const override {
    if (!live() || paused_) return false;
    const std::int64_t now = wall_now().ns;
    return std::any_of(members_.begin(), members_.end(), [now](const Member& each) {
      return !each.source->live() && now - each.offset_ns <= each.source->range().end_ns;
    });
  }

  Result<void> keep_past(const std::string& file) override {
    return members_.front().source->keep_past(file);
  }
  std::string past_file() const override { return members_.front().source->past_file(); }

  void on_arrival(std::function<void()> wake) override {
    for (Member& each : members_) each.source->on_arrival(wake);
  }
  Loss loss(std::uint32_t channel) const override {
    if (channel >= places_.size()) return {};
    const auto& [member, id] = places_[channel];
    return members_[member].source->loss(id);
  }
  std::vector<std::string> problems() const override {
    std::vector<std::string> all;
    for (const Member& each : members_) {
      for (std::string& text : each.source->problems()) {
        all.push_back(each.label.empty() ? std::move(text) : each.label + ": " + text);
      }
    }
    return all;
  }
  std::size_t memory() const override {
    std::size_t sum = 0;
    for (const Member& each : members_) sum += each.source->memory();
    return sum;
  }
  void limit_memory(std::size_t bytes) override {
    for (Member& each : members_) each.source->limit_memory(bytes / members_.size());
  }
  std::string domain() const override { return members_.front().source->domain(); }
  const Node* node() const override { return members_.front().source->node(); }
  const Metadata& metadata() const override { return metadata_; }
  Result<std::string> attachment(std::string_view name) const override {
    for (const Member& each : members_) {
      if (auto found = each.source->attachment(name)) return found;
    }
    return members_.front().source->attachment(name);
  }

  std::vector<Part> parts() const override {
    std::vector<Part> all;
    for (const Member& each : members_) {
      TimeRange range = each.source->range();
      if (range.end_ns != 0) {
        range.begin_ns += each.offset_ns;
        range.end_ns += each.offset_ns;
      }
      all.push_back({each.label, each.source->title(), range, each.offset_ns, each.source->live()});
    }
    return all;
  }
  void set_offset(std::size_t part, std::int64_t offset_ns) override {
    if (part == 0 || part >= members_.size() || members_[part].source->live()) return;
    members_[part].offset_ns = offset_ns;
  }

 private:
  struct Member {
    std::unique_ptr<Source> source;
    std::string label;
    std::int64_t offset_ns = 0;
    std::vector<std::uint32_t> ids;          // here, by its own id
    std::set<std::string> typed;             // types that types_ has, or refused
    std::map<std::string, std::string> odd;  // types that differ from those of another source
  };

  /// Passes the samples of a member with the ids and times of this source.
  class Translated final : public Sink {
   public:
    Translated(Joined& joined, Member& from, Sink& to) : joined_(joined), from_(from), to_(to) {}
    void take(const Sample& sample) override {
      if (sample.channel >= from_.ids.size()) joined_.update();
      Sample made = sample;
      made.channel = from_.ids[sample.channel];
      made.time_ns += from_.offset_ns;
      if (made.publish_ns != 0) made.publish_ns += from_.offset_ns;
      to_.take(made);
    }
    void clear() override {}  // once for all members

   private:
    Joined& joined_;
    Member& from_;
    Sink& to_;
  };

  Result<void> seek(Member& each, std::int64_t time_ns, const Lookback& history, Sink& sink) {
    Translated to(*this, each, sink);
    return each.source->seek(time_ns - each.offset_ns, own(each, history), to);
  }

  /// The history by the names of a member.
  static Lookback own(const Member& each, const Lookback& history) {
    Lookback made;
    for (const Channel& channel : each.source->channels()) {
      made.need(channel.name, history.of(part_channel(each.label, channel.name)));
    }
    return made;
  }

  /// The member that a name of a channel belongs to, whether or not the channel exists yet.
  const Member* owner(const std::string& name) const {
    for (std::size_t i = 1; i < members_.size(); ++i) {
      if (is_of_part(members_[i].label, name)) return &members_[i];
    }
    return &members_.front();
  }

  /// A letter that no channel of another source begins with.
  std::string free_label(std::size_t number) const {
    for (char letter = static_cast<char>('a' + number); letter <= 'z'; ++letter) {
      const std::string label(1, letter);
      const bool used = std::any_of(members_.begin(), members_.end(), [&](const Member& each) {
        const auto all = each.source->channels();
        return each.label == label ||
               (&each == &members_.front() &&
                std::any_of(all.begin(), all.end(), [&](const Channel& channel) {
                  return is_of_part(label, channel.name);
                }));
      });
      if (!used) return label;
    }
    return "part" + std::to_string(number);
  }

  void update() {
    for (std::size_t m = 0; m < members_.size(); ++m) {
      Member& each = members_[m];
      for (const Channel& channel : each.source->channels()) {
        if (channel.id >= each.ids.size()) {
          Channel made = channel;
          made.id = static_cast<std::uint32_t>(channels_.size());
          made.name = part_channel(each.label, channel.name);
          made.part = static_cast<std::uint32_t>(m);
          each.ids.push_back(made.id);
          places_.emplace_back(m, channel.id);
          channels_.push_back(std::move(made));
        }
        Channel& own = channels_[each.ids[channel.id]];
        own.messages = channel.messages;
        own.latched = channel.latched;
        take_type(each, channel);
        const auto odd = each.odd.find(channel.type);
        own.problem = odd == each.odd.end() ? channel.problem : odd->second;
      }
    }
  }

  void take_type(Member& each, const Channel& channel) {
    if (channel.type.empty() || each.typed.contains(channel.type)) return;
    const google::protobuf::Descriptor* type =
        each.source->types().FindMessageTypeByName(channel.type);
    if (type == nullptr) return;  // a robot may announce it later
    each.typed.insert(channel.type);
    if (const auto added = types_.add(definition_of(*type)); !added) {
      each.odd.emplace(channel.type, "the sources have different versions of " + channel.type +
                                         ". Show them one at a time: " + added.error().to_string());
    }
  }

  /// The counters of the recorders, by the names here.
  void merge_metadata() {
    for (const Member& each : members_) {
      for (const auto& [name, values] : each.source->metadata()) {
        if (name != kChannelCounters) {
          metadata_.emplace(name, values);
          continue;
        }
        for (const auto& [channel, text] : values) {
          metadata_[name].emplace(part_channel(each.label, channel), text);
        }
      }
    }
  }

  Types types_;
  std::vector<Member> members_;
  std::vector<Channel> channels_;
  std::vector<std::pair<std::size_t, std::uint32_t>> places_;  // member and its id, by id here
  Metadata metadata_;
  bool paused_ = false;
};

}  // namespace

Result<void> join_source(std::unique_ptr<Source>& shown, std::unique_ptr<Source> more,
                         Alignment align) {
  if (auto* joined = dynamic_cast<Joined*>(shown.get())) {
    return joined->add(std::move(more), align);
  }
  auto made = std::make_unique<Joined>(std::move(shown));
  auto added = made->add(std::move(more), align);
  shown = std::move(made);
  return added;
}

std::int64_t aligned_offset(const std::vector<Part>& parts, std::size_t part, Alignment align,
                            std::int64_t shift_ns) {
  if (align == Alignment::time || parts[part].live) return shift_ns;
  const std::int64_t own_begin = parts[part].range.begin_ns - parts[part].offset_ns;
  const std::int64_t begin = parts.front().live ? wall_now().ns : parts.front().range.begin_ns;
  return begin - own_begin + shift_ns;
}

}  // namespace hyphos::view
