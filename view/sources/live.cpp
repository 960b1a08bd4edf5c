#include <unistd.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include "hyphos/node.hpp"
#include "hyphos/runtime.hpp"
#include "hyphos/time.hpp"
#include "view/core/types.hpp"
#include "view/sources/inbox.hpp"
#include "view/sources/open.hpp"
#include "view/sources/past.hpp"
#include "view/sources/past_file.hpp"
#include "view/sources/scout.hpp"

namespace hyphos::view {
namespace {

constexpr std::uint64_t kQueueBytes = 8U << 20U;  // of the publisher's memory, for each channel
constexpr std::uint64_t kLeastDepth = 4;
constexpr std::uint64_t kMostDepth = 256;
constexpr std::size_t kMaxProblems = 16;

/// The guest's side of a channel's policy. A guest loses messages, instead of making a robot wait.
Policy guest_policy(const Offer& offer) {
  Policy policy;
  policy.latched = offer.policy.latched;
  policy.latched_depth = offer.policy.latched_depth;
  const std::uint64_t guess =
      offer.mean_bytes == 0 ? kMostDepth / 16 : kQueueBytes / offer.mean_bytes;
  policy.depth = static_cast<std::uint32_t>(std::clamp(guess, kLeastDepth, kMostDepth));
  return policy;
}

class Live : public Source {
 public:
  static Result<std::unique_ptr<Source>> open(const std::string& domain,
                                              const OpenOptions& options) {
    RuntimeOptions wanted;
    wanted.process = "view-" + std::to_string(::getpid());
    wanted.domain = domain;
    wanted.threads = 2;
    auto runtime = Runtime::open(wanted);
    if (!runtime) return runtime.error();
    auto node = runtime->node(wanted.process);
    if (!node) return node.error();
    runtime->ready();
    return std::unique_ptr<Source>(
        std::make_unique<Live>(std::move(*runtime), std::move(*node), options.memory_bytes));
  }

  Live(Runtime runtime, Node node, std::size_t memory_bytes)
      : runtime_(std::move(runtime)),
        node_(std::move(node)),
        inbox_(std::make_shared<Inbox>(wall_now().ns - monotonic_now().ns)),
        past_(memory_bytes),
        scout_(std::make_unique<Scout>(runtime_.domain(), [inbox = inbox_] { inbox->wake(); })) {
    update();
  }
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;
  ~Live() override {
    inbox_->on_arrival({});
    scout_.reset();
    for (auto& [id, subscription] : subscriptions_) subscription.close();
    node_.close();
  }

  std::string title() const override { return "domain '" + runtime_.domain() + "'"; }
  std::span<const Channel> channels() const override { return channels_; }
  const google::protobuf::DescriptorPool& types() const override { return types_.pool(); }
  bool live() const override { return true; }
  TimeRange range() const override {
    TimeRange range = past_.range();
    if (file_ != nullptr && file_->begin_ns() != 0) {
      range.begin_ns = std::min(range.begin_ns, file_->begin_ns());
    }
    return range;
  }
  void on_arrival(std::function<void()> wake) override { inbox_->on_arrival(std::move(wake)); }
  Loss loss(std::uint32_t channel) const override { return inbox_->loss(channel); }
  std::size_t memory() const override {
    return past_.bytes() + (file_ == nullptr ? 0 : file_->memory());
  }
  std::string domain() const override { return runtime_.domain(); }
  const Node* node() const override { return &node_; }
  const Metadata& metadata() const override { return metadata_; }
  Result<std::string> attachment(std::string_view name) const override {
    return Error{Code::not_found, "a running robot has no attachment '" + std::string(name) + "'",
                 title()};
  }

  Result<void> keep_past(const std::string& file) override {
    if (file_ != nullptr) {
      return Error{Code::already_exists, "the past is written to " + file_->path() + " already",
                   file};
    }
    auto made = PastFile::create(file);
    if (!made) return made.error();
    file_ = std::move(*made);
    for (const Sample& sample : past_.values_before(past_.begin())) keep(sample);
    for (std::uint64_t i = past_.begin(); i < past_.end(); ++i) keep(past_.at(i));
    return success();
  }
  std::string past_file() const override { return file_ == nullptr ? "" : file_->path(); }

  void limit_memory(std::size_t bytes) override {
    if (file_ != nullptr) file_->limit_memory(bytes / 4);
    past_.limit(bytes);
    passed_ = std::max(passed_, past_.begin());
  }

  void select(const std::set<std::string>& names) override {
    names_ = names;
    update();
    subscribe();
  }

  std::size_t advance(std::int64_t until_ns, Sink& sink) override {
    update();
    drain();
    std::size_t passed = 0;
    std::size_t bytes = 0;
    while (passed_ < past_.end() && bytes < kMaxPassed) {
      const Sample& sample = past_.at(passed_);
      if (paused_ && sample.time_ns > until_ns) break;
      bytes += bytes_of(sample);
      ++passed_;
      if (!shows(sample)) continue;
      sink.take(sample);
      ++passed;
    }
    keep_unpassed();
    return passed;
  }

  Result<void> seek(std::int64_t time_ns, const Lookback& history, Sink& sink) override {
    drain();
    paused_ = true;
    pass_until(past_.after(time_ns), time_ns, history, sink);
    return success();
  }

  void resume(const Lookback& history, Sink& sink) override {
    drain();
    paused_ = false;
    pass_until(past_.end(), past_.range().end_ns, history, sink);
  }

  std::int64_t step(std::int64_t time_ns, int step) const override {
    const std::int64_t oldest = past_.range().begin_ns;
    if (file_ != nullptr && (step >= 0 ? time_ns < oldest : time_ns <= oldest)) {
      const std::int64_t found = file_->step(time_ns, step, names_);
      if (found != time_ns) return found;
    }
    if (step >= 0) {
      for (std::uint64_t i = past_.after(time_ns); i < past_.end(); ++i) {
        if (shows(past_.at(i))) return past_.at(i).time_ns;
      }
      return time_ns;
    }
    for (std::uint64_t i = past_.after(time_ns - 1); i > past_.begin(); --i) {
      if (shows(past_.at(i - 1))) return past_.at(i - 1).time_ns;
    }
    return time_ns;
  }

  std::vector<std::string> problems() const override {
    std::vector<std::string> out = problems_;
    if (!scout_problem_.empty()) {
      out.push_back(scout_problem_);
    } else if (processes_ == 0) {
      out.push_back("no process runs in domain '" + runtime_.domain() + "'");
    }
    for (const auto& [name, text] : refused_) out.push_back(name + ": " + text);
    if (file_ != nullptr) {
      if (std::string problem = file_->problem(); !problem.empty()) out.push_back(problem);
    }
    return out;
  }

 private:
  [[nodiscard]] bool shows(const Sample& sample) const {
    return names_.contains(channels_[sample.channel].name);
  }

  /// Passes the past of each channel, and before it the last values that are older.
  void pass_until(std::uint64_t end, std::int64_t time_ns, const Lookback& history, Sink& sink) {
    sink.clear();
    std::int64_t longest = 0;
    std::vector<std::int64_t> begins;  // by channel
    for (const Channel& channel : channels_) {
      const std::int64_t past = names_.contains(channel.name) ? history.of(channel.name) : 0;
      begins.push_back(time_ns - past);
      longest = std::max(longest, past);
    }
    const std::int64_t passed_ns = pass_file(time_ns, longest, begins, sink);
    const std::uint64_t begin = past_.after(time_ns - longest);
    for (const Sample& sample : past_.values_before(begin, end, begins)) {
      // Before the memory begins, its oldest values are still in the future.
      if (sample.time_ns > passed_ns && sample.time_ns <= time_ns && shows(sample)) {
        sink.take(sample);
      }
    }
    for (std::uint64_t i = begin; i < end; ++i) {
      const Sample& sample = past_.at(i);
      if (sample.time_ns > begins[sample.channel] && shows(sample)) sink.take(sample);
    }
    passed_ = std::max(end, past_.begin());
  }

  /// Passes the part of the past that only the file has. Returns the time of its end.
  std::int64_t pass_file(std::int64_t time_ns, std::int64_t longest,
                         const std::vector<std::int64_t>& begins, Sink& sink) {
    const std::int64_t oldest = past_.range().begin_ns;
    constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
    if (file_ == nullptr || past_.begin() == 0 || time_ns - longest >= oldest) return kNone;
    const std::int64_t until = std::min(time_ns, oldest - 1);
    Lookback rest;
    for (const Channel& channel : channels_) {
      rest.need(channel.name, std::max<std::int64_t>(until - begins[channel.id], 0));
    }
    if (const auto passed = file_->pass(until, rest, names_, sink); !passed) {
      report(passed.error().to_string());
      return kNone;
    }
    return until;
  }

  void keep(const Sample& sample) {
    const Channel& channel = channels_[sample.channel];
    const TypeId& type = hashes_[sample.channel];
    Policy policy;
    if (const auto offers = offers_.find(channel.name); offers != offers_.end()) {
      for (const Offer& offer : offers->second) {
        if (offer.type == type) policy = offer.policy;
      }
    }
    file_->offer(channel, type, policy, types_.pool());
    file_->add(sample);
  }

  /// Displays that follow the robot get each sample, also those beyond the bound of the past.
  void keep_unpassed() { past_.keep_from(paused_ ? Past::kNone : passed_); }

  void drain() {
    keep_unpassed();
    for (Sample& sample : inbox_->take()) {
      Channel& channel = channels_[sample.channel];
      ++channel.messages;
      past_.add(std::move(sample), channel.latched);
      if (file_ != nullptr) keep(past_.newest());
    }
    passed_ = std::max(passed_, past_.begin());
  }

  void report(std::string text) {
    if (problems_.size() < kMaxProblems) problems_.push_back(std::move(text));
  }

  /// Takes over the findings of the scout.
  void update() {
    Scout::News news = scout_->take();
    if (!news.changed) return;
    for (const std::string& set : news.descriptors) {
      if (auto added = types_.add(set); !added) report(added.error().to_string());
    }
    processes_ = news.processes;
    scout_problem_ = news.problem;
    offers_.clear();
    for (Offer& offer : news.offers) offers_[offer.name].push_back(std::move(offer));
    for (auto& [name, offers] : offers_) offer(name, offers);
    for (Channel& channel : channels_) channel.problem = problem_of(channel);
    subscribe();
  }

  /// A channel keeps its type as long as an endpoint has it.
  void offer(const std::string& name, std::vector<Offer>& offers) {
    if (const auto found = current_.find(name); found != current_.end()) {
      for (const Offer& one : offers) {
        if (one.type == hashes_[found->second]) return;
      }
    }
    const Offer& chosen = offers.front();
    Channel channel;
    channel.id = static_cast<std::uint32_t>(channels_.size());
    channel.name = name;
    channel.type = chosen.type.name;
    channel.encoding = chosen.type.encoding;
    channel.latched = chosen.policy.latched;
    if (const auto old = current_.find(name); old != current_.end()) {
      report("channel '" + name + "' changed its type from " + channels_[old->second].type +
             " to " + channel.type);
      close(old->second);
    }
    current_[name] = channel.id;
    hashes_.push_back(chosen.type);
    channels_.push_back(std::move(channel));
  }

  [[nodiscard]] std::string problem_of(const Channel& channel) const {
    if (channel.encoding == Encoding::structure || channel.encoding == Encoding::custom) {
      return channel.type + " is a type of C++ without a definition, so its bytes are shown";
    }
    if (channel.encoding == Encoding::none) {
      return channel.type + " is a C++ type without a serializer, so it stays in its process";
    }
    if (channel.encoding == Encoding::bytes || types_.find(channel.type) != nullptr) return "";
    return "no process announces a definition of " + channel.type;
  }

  void close(std::uint32_t id) {
    const auto found = subscriptions_.find(id);
    if (found == subscriptions_.end()) return;
    found->second.close();
    subscriptions_.erase(found);
  }

  /// Opens and closes subscriptions, so that exactly the selected channels that are offered have
  /// one.
  void subscribe() {
    for (const auto& [name, id] : current_) {
      const auto offers = offers_.find(name);
      if (!names_.contains(name)) {
        close(id);
        refused_.erase(name);
        continue;
      }
      if (offers == offers_.end() || subscriptions_.contains(id)) continue;
      for (const Offer& offer : offers->second) {
        if (offer.type == hashes_[id]) open(id, offer);
      }
    }
  }

  void open(std::uint32_t id, const Offer& offer) {
    SubscriptionOptions options;
    // In the delivering thread, because the message is only copied to the inbox.
    options.mode = Mode::inline_;
    options.policy = guest_policy(offer);
    auto opened = node_.raw_subscribe(
        offer.name, offer.type, options,
        [inbox = inbox_, id](const Message<RawMessage>& message) { inbox->put(id, message); });
    if (!opened) {
      refused_[offer.name] = opened.error().to_string();
      return;
    }
    refused_.erase(offer.name);
    subscriptions_.emplace(id, std::move(*opened));
  }

  Runtime runtime_;
  Node node_;
  std::shared_ptr<Inbox> inbox_;
  Past past_;
  Types types_;
  Metadata metadata_;
  std::vector<Channel> channels_;
  std::vector<TypeId> hashes_;                        // by channel id
  std::map<std::string, std::uint32_t> current_;      // the newest id of a name
  std::map<std::string, std::vector<Offer>> offers_;  // of the robot now
  std::map<std::uint32_t, Subscription> subscriptions_;
  std::map<std::string, std::string> refused_;
  std::set<std::string> names_;
  bool paused_ = false;
  std::uint64_t passed_ = 0;  // position in past_
  std::size_t processes_ = 0;
  std::string scout_problem_;
  std::vector<std::string> problems_;
  std::unique_ptr<Scout> scout_;
  std::unique_ptr<PastFile> file_;
};

}  // namespace

Result<std::unique_ptr<Source>> open_live(const std::string& domain, const OpenOptions& options) {
  return Live::open(domain.empty() ? options.domain : domain, options);
}

}  // namespace hyphos::view
