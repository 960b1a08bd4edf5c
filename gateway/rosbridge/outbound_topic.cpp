#include "gateway/rosbridge/outbound_topic.hpp"

#include <algorithm>
#include <utility>

#include "gateway/rosbridge/cbor.hpp"
#include "gateway/rosbridge/json_text.hpp"

namespace hyphos::gateway::rosbridge {
namespace {

constexpr std::uint32_t kMaxQueue = 10'000;
constexpr std::int64_t kMaxThrottleMs = 86'400'000;

Form form_of(Compression compression) {
  switch (compression) {
    case Compression::cbor:
      return Form::cbor;
    case Compression::cbor_raw:
      return Form::ros1;
    default:
      return Form::json;
  }
}

Compression plain(Form form) {
  switch (form) {
    case Form::cbor:
      return Compression::cbor;
    case Form::ros1:
      return Compression::cbor_raw;
    default:
      return Compression::none;
  }
}

Result<Compression> compression_of(const std::string& name) {
  if (name.empty() || name == "none") return Compression::none;
  if (name == "png") return Compression::png;
  if (name == "cbor") return Compression::cbor;
  if (name == "cbor-raw") return Compression::cbor_raw;
  return Error{Code::unsupported,
               "unknown compression '" + name + "'. Use none, png, cbor or cbor-raw", ""};
}

const Buffer& closing_brace() {
  static const Buffer brace = Buffer::copy_of(std::string_view("}"));
  return brace;
}

}  // namespace

Result<Wish> wish_of(const Request& request) {
  Wish wish;
  const auto compression = compression_of(request.compression);
  if (!compression) return compression.error();
  wish.compression = *compression;
  if (request.throttle_rate_ms < 0 || request.throttle_rate_ms > kMaxThrottleMs) {
    return Error{Code::corrupt, "'throttle_rate' must be 0 to 86400000 milliseconds", ""};
  }
  wish.throttle_ns = Duration::from_ms(request.throttle_rate_ms).ns;
  if (request.queue_length < 0) return Error{Code::corrupt, "'queue_length' must be 0 or more", ""};
  wish.queue_length =
      static_cast<std::uint32_t>(std::min<std::int64_t>(request.queue_length, kMaxQueue));
  if (request.fragment_size) {
    if (*request.fragment_size < 1) {
      return Error{Code::corrupt, "'fragment_size' must be 1 or more", ""};
    }
    wish.fragment_size = static_cast<std::size_t>(*request.fragment_size);
  }
  return wish;
}

OutboundTopic::OutboundTopic(Context& context, std::string name, OutputClass output_class)
    : context_(context),
      name_(std::move(name)),
      output_class_(output_class),
      json_head_(
          Buffer::copy_of(R"({"op":"publish","topic":)" + json_string(name_) + R"(,"msg":)")),
      cbor_head_(Buffer::copy_of(cbor_publish_head(name_))) {}

OutboundTopic::~OutboundTopic() {
  replay_.reset();
  old_.reset();
  subscription_.reset();
  while (!held_.empty()) (void)take_held();
}

// Joins them as the protocol requires: the lowest rate and fragment size, and the longest queue.
// png takes precedence over cbor.
Wish OutboundTopic::joined(const Wishes& wishes) {
  const auto rank = [](Compression compression) {
    switch (compression) {
      case Compression::png:
        return 3;
      case Compression::cbor:
        return 2;
      case Compression::cbor_raw:
        return 1;
      default:
        return 0;
    }
  };
  Wish all = wishes.begin()->second;
  for (const auto& [id, wish] : wishes) {
    all.throttle_ns = std::min(all.throttle_ns, wish.throttle_ns);
    all.queue_length = std::max(all.queue_length, wish.queue_length);
    all.fragment_size = std::min(all.fragment_size, wish.fragment_size);
    if (rank(wish.compression) > rank(all.compression)) all.compression = wish.compression;
  }
  return all;
}

Result<std::unique_ptr<ClientSubscription>> OutboundTopic::open(
    const std::string& type, Form form, std::function<void(const OutgoingMessage&)> callback) {
  ClientSubscriptionOptions options;
  options.depth = context_.options.queue_depth;
  return context_.facade.topics().open_subscription(context_.client, absolute(name_), type, form,
                                                    options, std::move(callback));
}

Result<void> OutboundTopic::follow(const std::string& type, Form form, bool again) {
  const std::uint64_t number = ++opened_;
  std::uint64_t before = number;
  {
    const MutexLock lock(mutex_);
    // A previous switch must be complete first.
    for (const auto& left : stream_switch_.end()) deliver(left.form, left.message.bytes);
    if (subscription_ != nullptr) stream_switch_.begin(context_.options.queue_depth);
    before = std::exchange(newest_, number);
  }
  old_.reset();
  auto opened = open(type, form, [this, number, again, form](const OutgoingMessage& message) {
    take(number, again, form, message);
  });
  if (!opened) {
    const MutexLock lock(mutex_);
    (void)stream_switch_.end();
    newest_ = before;
    return opened.error();
  }
  {
    const MutexLock lock(mutex_);
    stream_switch_.opened(monotonic_now().ns);
  }
  old_ = std::exchange(subscription_, *std::move(opened));
  form_ = form;
  return success();
}

Result<void> OutboundTopic::replay() {
  replay_.reset();
  replayed_ = false;
  auto opened =
      open(subscription_->type().name, form_, [this, form = form_](const OutgoingMessage& message) {
        if (message.replayed) {
          // One message per publisher. A message not seen yet arrives later through subscription_.
          const MutexLock lock(mutex_);
          if (stream_switch_.was_seen(message)) deliver(form, message.bytes);
        }
        replayed_ = true;  // all of them arrive before the subscription is open
        context_.sink.wake_at(monotonic_now().ns);
      });
  if (!opened) return opened.error();
  replay_ = *std::move(opened);
  return success();
}

void OutboundTopic::set(const Wish& wish) {
  const MutexLock lock(mutex_);
  wish_ = wish;
}

Result<void> OutboundTopic::check_type(const std::string& type) const {
  if (type.empty() || subscription_ == nullptr) return success();
  const auto asked = context_.facade.types().message(type);
  if (!asked) return asked.error();
  const std::string& known = subscription_->type().name;
  if (asked->name == known) return success();
  return Error{Code::type_mismatch,
               "this client already uses the topic with type " + known + ", not " + asked->name,
               name_};
}

Result<void> OutboundTopic::subscribe(const std::string& id, const std::string& type,
                                      const Wish& wish) {
  if (auto same = check_type(type); !same) return same;
  Wishes wishes = wishes_;
  wishes[id] = wish;
  if (wishes.size() > kMaxIds) {
    return Error{Code::overloaded, "a client may subscribe at most 256 times to one topic", name_};
  }
  const Wish all = joined(wishes);
  const Form form = form_of(all.compression);
  const bool is_new = !wishes_.contains(id);
  set(all);  // set before the subscription opens, because its first message may arrive at once
  Result<void> opened = success();
  if (subscription_ == nullptr) {
    opened = follow(type, form, is_new);
  } else if (form != form_) {
    opened = follow(subscription_->type().name, form, is_new);
  } else if (is_new) {
    opened = replay();
  }
  if (!opened) {
    if (!wishes_.empty()) set(joined(wishes_));
    return opened;
  }
  wishes_ = std::move(wishes);
  return success();
}

Result<void> OutboundTopic::unsubscribe(const std::string& id) {
  if (id.empty()) {
    wishes_.clear();
  } else if (wishes_.erase(id) == 0) {
    return Error{Code::not_found, "no subscription to " + name_ + " has this id", ""};
  }
  if (wishes_.empty()) return success();
  const Wish all = joined(wishes_);
  set(all);
  const Form form = form_of(all.compression);
  return form == form_ ? success() : follow(subscription_->type().name, form, false);
}

void OutboundTopic::tick() {
  if (replayed_ && replay_ != nullptr) replay_.reset();
  // destroyed after the lock is released, because its callback takes the lock
  std::unique_ptr<ClientSubscription> done;
  const MutexLock lock(mutex_);
  if (stream_switch_.over()) done = std::move(old_);
  const std::int64_t now = monotonic_now().ns;
  if (held_.empty()) return;
  if (now >= due_ns_) {
    const Held next = take_held();
    due_ns_ = now + wish_.throttle_ns;
    send(next.compression, next.bytes);
  }
  if (!held_.empty()) context_.sink.wake_at(due_ns_);
}

void OutboundTopic::take(std::uint64_t subscription, bool again, Form form,
                         const OutgoingMessage& message) {
  StreamSwitch::Given given{form, message};
  const MutexLock lock(mutex_);
  const bool was_over = stream_switch_.over();
  const auto due = subscription == newest_ ? stream_switch_.from_new(std::move(given), again)
                                           : stream_switch_.from_old(std::move(given), again);
  for (const auto& one : due) deliver(one.form, one.message.bytes);
  if (!was_over && stream_switch_.over()) context_.sink.wake_at(monotonic_now().ns);
}

// A message from the old subscription may have an encoding that is no longer requested.
void OutboundTopic::deliver(Form form, const EncodedMessage& message) {
  const Compression compression =
      form_of(wish_.compression) == form ? wish_.compression : plain(form);
  const std::int64_t now = monotonic_now().ns;
  if (held_.empty() && (wish_.throttle_ns == 0 || now >= due_ns_)) {
    due_ns_ = now + wish_.throttle_ns;
    return send(compression, message);
  }
  // Without a queue, messages that come too early are skipped, as the client requested.
  if (wish_.queue_length == 0) return;
  hold({compression, message.joined()});
}

// Waiting messages are also bounded in bytes, over all topics of the client. Each topic drops its
// own oldest message.
void OutboundTopic::hold(Held held) {
  const std::size_t size = held.bytes.size();
  std::size_t dropped = 0;
  held_.push_back(std::move(held));
  context_.held_bytes.fetch_add(size);
  while (held_.size() > wish_.queue_length ||
         (!held_.empty() && context_.held_bytes.load() > context_.options.queue_bytes)) {
    (void)take_held();
    ++dropped;
  }
  if (!held_.empty()) context_.sink.wake_at(due_ns_);
  for (; dropped > 0; --dropped) context_.count("throttled", name_);
}

OutboundTopic::Held OutboundTopic::take_held() {
  Held oldest = std::move(held_.front());
  held_.pop_front();
  context_.held_bytes.fetch_sub(oldest.bytes.size());
  return oldest;
}

// A large array is not copied.
Frame OutboundTopic::frame_of(Compression compression, const EncodedMessage& message) const {
  if (form_of(compression) == Form::json) {
    return {false, {json_head_, message.joined(), closing_brace()}};
  }
  Buffer head = cbor_head_;
  if (compression == Compression::cbor_raw) {
    head = Buffer::copy_of(cbor_raw_head(cbor_head_.text(), wall_now().ns, message.size()));
  }
  if (message.array.empty()) return {true, {head, message.head, {}}};
  return {true,
          {EncodedMessage(head, message.head, {}).joined(), message.array, message.tail},
          /*lent=*/true};
}

void OutboundTopic::send(Compression compression, const EncodedMessage& message) {
  if (message.size() > context_.options.max_message) return context_.count("too_big", name_);
  const bool is_json = form_of(compression) == Form::json;
  const Frame frame = frame_of(compression, message);
  const std::uint32_t depth =
      wish_.queue_length > 0 ? wish_.queue_length : context_.options.queue_depth;
  std::size_t dropped = 0;
  if (is_json && (compression == Compression::png || frame.size() > wish_.fragment_size)) {
    const auto frames = in_pieces(compression, frame.parts[1]);
    if (!frames) return context_.count("fragments", frames.error().message);
    dropped = context_.sink.send(output_class_, depth, *frames);
  } else {
    dropped = context_.sink.send(output_class_, depth, {&frame, 1});
  }
  for (; dropped > 0; --dropped) context_.count("slow_client", name_);
}

Result<std::vector<Frame>> OutboundTopic::in_pieces(Compression compression, const Buffer& json) {
  std::string text;
  text.reserve(json_head_.size() + json.size() + 1);
  text += json_head_.text();
  text += json.text();
  text += '}';
  return context_.frames(text, {compression == Compression::png, wish_.fragment_size});
}

}  // namespace hyphos::gateway::rosbridge
