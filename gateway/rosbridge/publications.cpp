#include "gateway/rosbridge/publications.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "gateway/rosbridge/json_text.hpp"

namespace hyphos::gateway::rosbridge {
namespace {

constexpr std::int64_t kMaxQueue = 10'000;

std::string type_on(const Topics& graph, const std::string& topic) {
  const std::vector<TopicInfo> topics = graph.list();
  const auto at = std::ranges::find(topics, topic, &TopicInfo::topic);
  return at == topics.end() ? std::string() : at->type;
}

}  // namespace

Result<Publications::Topic*> Publications::open(const Request& request, const std::string& topic,
                                                const std::string& type) {
  const std::size_t most = context_.options.limits.client_topics;
  if (topics_.size() >= most && !topics_.contains(topic)) {
    return Error{Code::overloaded,
                 at_limit("this client", most, "published topics", "--max-topics-per-client"),
                 topic};
  }
  ClientPublisherOptions options;
  options.latched = request.latch;
  options.spread = true;
  options.depth =
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(request.queue_size, 0, kMaxQueue));
  auto publisher =
      context_.facade.topics().open_publisher(context_.client, topic, type, Form::json, options);
  if (!publisher) return publisher.error();
  Topic& opened = topics_[topic];
  opened.type = type;
  opened.latched = request.latch;
  opened.publisher = *std::move(publisher);
  opened.overruns = 0;
  return &opened;
}

Result<void> Publications::advertise(const Request& request) {
  if (auto given = required(request.topic, "topic"); !given) return given;
  if (auto given = required(request.type, "type", request.topic); !given) return given;
  const std::string topic = absolute(request.topic);
  const auto at = topics_.find(topic);
  // A repeated advertise, as after a reconnect, keeps the publisher. Another type name may mean the
  // same type, which the graph facade knows. If it does not, the existing publisher stays.
  if (at == topics_.end() || at->second.type != request.type ||
      at->second.latched != request.latch) {
    const auto opened = open(request, topic, request.type);
    if (!opened) return opened.error();
  }
  topics_[topic].ids.insert(request.id);
  return success();
}

Result<void> Publications::unadvertise(const Request& request) {
  if (auto given = required(request.topic, "topic"); !given) return given;
  const auto at = topics_.find(absolute(request.topic));
  if (at == topics_.end()) {
    context_.status(Level::warning, "unadvertise: " + request.topic + " is not advertised",
                    request.id);
    return success();
  }
  at->second.ids.erase(request.id);
  if (!request.id.empty() && !at->second.ids.empty()) return success();
  if (last_ == &at->second) last_ = nullptr;
  topics_.erase(at);
  return success();
}

Result<void> Publications::publish(const Request& request) {
  if (auto given = required(request.topic, "topic"); !given) return given;
  if (!request.msg.starts_with('{') && !request.msg.empty()) {
    return Error{Code::corrupt, "'msg' must be an object", request.topic};
  }
  const std::string topic = absolute(request.topic);
  const auto at = topics_.find(topic);
  Topic* to = at == topics_.end() ? nullptr : &at->second;
  if (to == nullptr) {
    const std::string type =
        request.type.empty() ? type_on(context_.facade.topics(), topic) : request.type;
    if (type.empty()) {
      return Error{Code::not_found,
                   "the type of " + request.topic + " is unknown. Advertise it first", ""};
    }
    auto opened = open(request, topic, type);
    if (!opened) return opened.error();
    to = *opened;
  }
  constexpr std::string_view kNothing = "{}";
  const std::string quoted = request.plain ? "" : with_quoted_specials(request.msg);
  const std::string_view msg = !quoted.empty()       ? std::string_view(quoted)
                               : request.msg.empty() ? kNothing
                                                     : request.msg;
  // The graph facade counts its own refusals. A changed text has another address, so its decoded
  // string is not found.
  const auto published = to->publisher->publish(
      std::as_bytes(std::span(msg)), DecodeHint(request.decoded, context_.sink.arrived()));
  last_ = to;
  if (!published) context_.tell(request, published.error());
  warn_of_overruns(topic, *to);
  if (published && to->publisher->keeps()) {
    waiting_.emplace();
    waiting_->op = request.op;
    waiting_->id = request.id;
    waiting_->topic = topic;
  }
  return success();
}

void Publications::warn_of_overruns(const std::string& topic, Topic& of) const {
  const std::uint64_t now = of.publisher->overruns();
  const Time at = monotonic_now();
  if (now == of.overruns || at < of.next_warning) return;
  of.overruns = now;
  of.next_warning = at + Duration::from_seconds(1);
  context_.status(Level::warning,
                  "publish: a subscriber of " + topic + " is too slow: " + std::to_string(now) +
                      " messages met its full queue, which dropped older messages",
                  "");
}

WritableBuffer Publications::loan(std::size_t size) {
  return last_ == nullptr ? WritableBuffer() : last_->publisher->loan(size);
}

bool Publications::ready() {
  if (!waiting_) return true;
  if (const auto at = topics_.find(waiting_->topic); at != topics_.end()) {
    const auto flushed = at->second.publisher->flush();
    if (flushed && !*flushed) return false;
    if (!flushed) context_.tell(*waiting_, flushed.error());
    warn_of_overruns(waiting_->topic, at->second);
  }
  waiting_.reset();
  return true;
}

}  // namespace hyphos::gateway::rosbridge
