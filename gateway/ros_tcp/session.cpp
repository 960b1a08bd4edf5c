#include "gateway/ros_tcp/session.hpp"

#include <algorithm>
#include <utility>

namespace hyphos::gateway::ros_tcp {
namespace {

/// Timeout of a call to a service without a server: time for a server that is just starting.
constexpr Duration kNoServer = Duration::from_seconds(2);
/// Notes for people. They have a flow like a topic, so that a flood of them cannot fill the queue.
constexpr net::Key kNotes = 0;
/// Size in bytes of the reply to a failed call of unknown type. Few types of fixed size are larger.
constexpr std::size_t kUnknownReply = 1024;
/// Used as service name if the frame that would have contained it did not arrive.
constexpr const char* kNameless = "(unknown)";

std::string in_graph(const std::string& name) { return name.starts_with('/') ? name : "/" + name; }

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

void Session::Line::send(net::Key key, std::string_view what, net::Message message) {
  const std::size_t dropped = stream->send(key, std::move(message));
  for (std::size_t i = 0; i < dropped; ++i) facade.clients().count(client, "slow_client", what);
}

void Session::Line::note(std::string_view kind, std::string_view text) {
  // A dropped note is not counted, because the event that it reports was counted.
  (void)stream->send(kNotes, net::Message(whole_frame(kind, ros_tcp::note(text))));
}

void Session::Line::note(std::string_view kind, log::OncePerSecond& limit, std::string text) {
  std::uint64_t left_out = 0;
  if (!limit.allow(left_out)) return;
  if (left_out > 0) text += " (and " + std::to_string(left_out) + " more of this kind)";
  note(kind, text);
}

Buffer Session::Line::blank_reply(const std::string& type) const {
  if (!type.empty()) {
    if (auto blank = facade.services().blank_reply(type, form)) return *blank;
  }
  WritableBuffer zeros = WritableBuffer::on_heap(kUnknownReply);
  std::ranges::fill(zeros.bytes(), std::byte{0});
  if (form == Form::cdr) zeros.data()[1] = std::byte{1};  // little endian
  return std::move(zeros).freeze();
}

void Session::Line::respond(const std::string& service, const std::string& type, std::int64_t id,
                            const Result<Buffer>& reply) {
  Buffer body;
  if (!reply) {
    // The client's program waits for a reply. Its deserializer throws on a body that is too short,
    // and the program would then wait forever.
    body = blank_reply(type);
    note("__error", "service " + service + ": " + reply.error().to_string());
    facade.clients().count(client, "call_failed", service);
  } else if (reply->size() > max_message) {
    body = blank_reply(type);
    note("__error", "service " + service + ": the reply has " + std::to_string(reply->size()) +
                        " bytes, more than the limit of " + std::to_string(max_message) +
                        ". Raise --max-message");
    facade.clients().count(client, "too_large", service);
  } else {
    body = *reply;
  }
  Buffer head = frame_and_head("__response", service_id(id), service, body.size());
  send(net::kControl, service, net::Message(std::move(head), std::move(body)));
}

Session::Session(std::shared_ptr<Line> line, const Settings& settings,
                 std::shared_ptr<UnityServices> services, LoanBudget& loan_budget)
    : line_(std::move(line)),
      settings_(settings),
      unity_services_(std::move(services)),
      loan_budget_(loan_budget) {}

void Session::serve(GraphFacade& facade, net::Loop& loop, net::Connection connection,
                    const Settings& settings, std::shared_ptr<UnityServices> services,
                    LoanBudget& loan_budget) {
  Client client{"ros_tcp " + connection.peer};
  auto stream = net::Stream::open(loop, std::move(connection), settings.stream);
  auto line =
      std::make_shared<Line>(facade, std::move(client), std::move(stream), settings.max_message,
                             settings.form(), settings.limits.client_calls);
  std::shared_ptr<Session> session(
      new Session(std::move(line), settings, std::move(services), loan_budget));
  session->begin();
}

void Session::begin() {
  line_->send(net::kControl, "__handshake",
              net::Message(whole_frame("__handshake", handshake(settings_.ros2))));
  net::Stream::Callbacks callbacks;
  const std::size_t max_message = settings_.max_message;
  callbacks.measure = [max_message](auto bytes) { return measure_frame(bytes, max_message); };
  callbacks.unit = [self = shared_from_this()](const Buffer& unit) { self->take(unit); };
  callbacks.memory = [self = shared_from_this()](auto begin, auto size) {
    return self->lend(begin, size);
  };
  callbacks.ready = [self = shared_from_this()] { return self->ready(); };
  callbacks.refused = [line = line_](const Error& error) {
    line->note("__error", "connection closed: " + error.to_string());
    line->facade.clients().count(line->client, to_string(error.code), error.message);
  };
  callbacks.closed = [self = shared_from_this()] { self->end(); };
  line_->stream->start(std::move(callbacks));
}

void Session::refuse(net::Loop& loop, net::Connection connection, const Settings& settings,
                     std::string_view why) {
  const auto stream = net::Stream::open(loop, std::move(connection), settings.stream);
  (void)stream->send(kNotes, net::Message(whole_frame("__error", note(why))));
  stream->finish();
  net::Stream::Callbacks none;
  none.measure = [](auto bytes) { return net::Measured::unit(bytes.size()); };
  none.unit = [](const Buffer&) {};
  stream->start(std::move(none));
}

void Session::end() {
  share_ = {};
  line_->requests.end();
  unity_services_->drop_all(this);
  subscribers_.clear();
  publishers_.clear();
}

WritableBuffer Session::lend(std::span<const std::byte> begin, std::size_t size) {
  const auto found = publishers_.find(parse_frame(begin).name);
  if (announced_ || found == publishers_.end()) return {};
  share_ = loan_budget_.take(size);
  return share_ ? found->second.publisher->loan(size) : WritableBuffer();
}

void Session::take(const Buffer& unit) {
  share_ = {};
  const Frame frame = parse_frame(unit.bytes());
  if (frame.name.empty()) return;  // a keep-alive
  if (frame.name.starts_with("__")) return obey(frame.name, frame.payload);
  if (!announced_) return publish(frame, unit);
  const Announced announced = *std::exchange(announced_, std::nullopt);
  if (announced.call) {
    call(frame, announced.id);
  } else {
    answer(frame, announced.id, unit);
  }
}

void Session::publish(const Frame& frame, const Buffer& unit) {
  const auto found = publishers_.find(frame.name);
  if (found == publishers_.end()) {
    const std::string name(frame.name);
    line_->facade.clients().count(line_->client, "unknown_topic", name);
    line_->note("__error", unknown_topic_,
                "the message was not published: topic '" + name +
                    "' is not registered. Send __publish first");
    return;
  }
  ClientPublisher& publisher = *found->second.publisher;
  const auto published = publisher.publish(frame.payload, {unit, line_->stream->arrived()});
  if (!published) return lost(found->first, found->second, published.error());
  warn_of_overruns(found->first, found->second);
  if (publisher.keeps()) waiting_ = found->first;
}

void Session::warn_of_overruns(const std::string& topic, Publisher& publisher) {
  const std::uint64_t now = publisher.publisher->overruns();
  if (now == publisher.overruns) return;
  publisher.overruns = now;
  line_->note("__warn", publisher.limits->slow,
              "a subscriber of " + topic + " is too slow: " + std::to_string(now) +
                  " messages met its full queue, which dropped older messages");
}

std::string Session::type_of_service(const std::string& service) const {
  const auto found = line_->facade.services().find(service);
  return found ? found->type : "";
}

/// Returns false while the last published message waits for room.
bool Session::ready() {
  if (waiting_.empty()) return true;
  const auto found = publishers_.find(waiting_);
  if (found != publishers_.end()) {
    const auto flushed = found->second.publisher->flush();
    if (flushed && !*flushed) return false;
    if (!flushed) lost(found->first, found->second, flushed.error());
    warn_of_overruns(found->first, found->second);
  }
  waiting_.clear();
  return true;
}

/// The graph facade has counted it.
void Session::lost(const std::string& topic, Publisher& publisher, const Error& error) {
  line_->note("__error", publisher.limits->failure,
              "a message on " + topic + " was lost: " + error.to_string());
}

void Session::call(const Frame& frame, std::int64_t id) {
  std::string name(frame.name);
  const auto found = ros_services_.find(frame.name);
  if (found == ros_services_.end()) {
    return line_->respond(
        name, type_of_service(in_graph(name)), id,
        Error{Code::not_found, "the service is not registered. Send __ros_service first", {}});
  }
  if (line_->calls.fetch_add(1) >= line_->max_calls) {
    line_->calls.fetch_sub(1);
    return line_->respond(name, found->second, id,
                          Error{Code::overloaded,
                                at_limit("this client", line_->max_calls, "calls in flight",
                                         "--max-calls-per-client"),
                                {}});
  }
  const std::string service = in_graph(name);
  const Duration timeout = line_->facade.services().find(service)
                               ? settings_.service_timeout
                               : std::min(settings_.service_timeout, kNoServer);
  line_->facade.services().call(line_->client, service, found->second, settings_.form(),
                                frame.payload, timeout,
                                [line = line_, name = std::move(name), type = found->second,
                                 id](const Result<Buffer>& reply) {
                                  line->calls.fetch_sub(1);
                                  line->respond(name, type, id, reply);
                                });
}

void Session::answer(const Frame& frame, std::int64_t id, const Buffer& unit) {
  const Answer answer = line_->requests.take(id);
  if (!answer) {
    line_->note("__warn", "no call waits for the reply to request " + std::to_string(id) + " of " +
                              std::string(frame.name));
    return;
  }
  // A small unit is in a block that stays alive as long as any part of it.
  const bool small = unit.size() <= net::UnitReader::kLarge;
  answer(small ? Buffer::copy_of(frame.payload)
               : unit.slice(unit.size() - frame.payload.size(), frame.payload.size()));
}

/// A new announcement means that the announced frame before it will never arrive. Its caller gets
/// an error.
void Session::announce(const Announced& announced) {
  const auto before = std::exchange(announced_, announced);
  if (!before) return;
  const Error error{Code::corrupt, "the announced frame did not arrive", {}};
  if (before->call) return line_->respond(kNameless, "", before->id, error);
  if (const Answer answer = line_->requests.take(before->id)) answer(error);
}

void Session::obey(std::string_view name, std::span<const std::byte> json) {
  const auto command = parse_command(name, text_of(json));
  if (!command) {
    line_->facade.clients().count(line_->client, "bad_command", name);
    line_->note("__error", command.error().message);
    return;
  }
  switch (command->kind) {
    case Kind::publish:
      return add_publisher(*command);
    case Kind::subscribe:
      return add_subscriber(*command);
    case Kind::ros_service:
      return add_ros_service(*command);
    case Kind::unity_service:
      return add_unity_service(*command);
    case Kind::remove_publisher:
      return remove("publisher", command->topic, publishers_.erase(command->topic) > 0);
    case Kind::remove_subscriber:
      return remove("subscriber", command->topic, subscribers_.erase(command->topic) > 0);
    case Kind::remove_ros_service:
      return remove("ROS service", command->topic, ros_services_.erase(command->topic) > 0);
    case Kind::remove_unity_service:
      return remove("Unity service", command->topic,
                    unity_services_->drop(this, in_graph(command->topic)));
    case Kind::request:
    case Kind::response:
      return announce({command->kind == Kind::request, command->id});
    case Kind::topic_list:
      return list_topics();
    case Kind::ping:
      return line_->send(
          net::kControl, "__ping_response",
          net::Message(whole_frame("__ping_response", ping_response(command->request_time))));
  }
}

bool Session::may_register(const Command& command) {
  const std::size_t all = publishers_.size() + subscribers_.size() + ros_services_.size() +
                          unity_services_->count(this);
  const std::size_t most = settings_.limits.client_topics;
  if (all < most) return true;
  log_error("cannot register " + command.topic,
            {Code::overloaded,
             at_limit("this client", most, "topics and services", "--max-topics-per-client"),
             {}});
  return false;
}

void Session::log_error(const std::string& doing, const Error& error) {
  line_->facade.clients().count(line_->client, to_string(error.code), doing);
  line_->note("__error", doing + ": " + error.to_string());
}

/// ROS 2 type names have one more part than the names that Unity writes.
std::string Session::type_in_graph(const std::string& type, bool service) const {
  const auto slash = type.find('/');
  const bool two_parts = slash != std::string::npos && slash == type.rfind('/');
  if (!settings_.ros2 || !two_parts) return type;
  return type.substr(0, slash) + (service ? "/srv" : "/msg") + type.substr(slash);
}

bool Session::alone_uses(const std::string& topic) const {
  const auto topics = line_->facade.topics().list();
  const auto at = std::ranges::find(topics, in_graph(topic), &TopicInfo::topic);
  return at != topics.end() && at->publishers.size() + at->subscribers.size() == 1 &&
         (at->publishers.empty() ? at->subscribers : at->publishers).front() == line_->client.name;
}

template <typename End, typename Open, typename Again>
Result<std::unique_ptr<End>> Session::replace(const std::string& topic, std::unique_ptr<End>* mine,
                                              Open open, Again open_again) {
  auto opened = open();
  if (opened || mine == nullptr || opened.error().code != Code::type_mismatch ||
      !alone_uses(topic)) {
    return opened;
  }
  mine->reset();
  opened = open();
  if (opened) return opened;
  if (auto again = open_again()) *mine = std::move(*again);
  return opened;
}

Result<std::unique_ptr<ClientPublisher>> Session::open_publisher(const std::string& topic,
                                                                 const Publisher& as) {
  return line_->facade.topics().open_publisher(
      line_->client, in_graph(topic), type_in_graph(as.type, false), settings_.form(),
      {.latched = as.latched, .depth = as.depth, .spread = true});
}

void Session::add_publisher(const Command& command) {
  const auto found = publishers_.find(command.topic);
  const bool is_new = found == publishers_.end();
  // The client registers twice when it connects. The second time must not destroy the publisher.
  if (!is_new && found->second.type == command.type && found->second.latched == command.latch) {
    return;
  }
  if (is_new && !may_register(command)) return;
  Publisher wanted;
  wanted.type = command.type;
  wanted.latched = command.latch;
  wanted.depth = command.queue_size;
  auto publisher = replace(
      command.topic, is_new ? nullptr : &found->second.publisher,
      [&] { return open_publisher(command.topic, wanted); },
      [&] { return open_publisher(command.topic, found->second); });
  if (!publisher) {
    const bool gone = !is_new && found->second.publisher == nullptr;
    log_error("cannot publish " + command.topic +
                  (gone ? ", and reopening it as " + found->second.type + " failed too" : ""),
              publisher.error());
    if (gone) publishers_.erase(found);
    return;
  }
  wanted.publisher = std::move(*publisher);
  publishers_.insert_or_assign(command.topic, std::move(wanted));
}

Result<std::unique_ptr<ClientSubscription>> Session::open_subscription(const std::string& topic,
                                                                       const std::string& type) {
  auto deliver = [line = line_, key = next_key_++, topic](const OutgoingMessage& message) {
    if (message.bytes.size() > line->max_message) {
      line->facade.clients().count(line->client, "too_large", topic);
      return;
    }
    const EncodedMessage& body = message.bytes;
    line->send(
        key, topic,
        net::Message::lent(frame_head(topic, body.size()), body.head, body.array, body.tail));
  };
  return line_->facade.topics().open_subscription(line_->client, in_graph(topic),
                                                  type_in_graph(type, false), settings_.form(), {},
                                                  std::move(deliver));
}

void Session::add_subscriber(const Command& command) {
  const auto found = subscribers_.find(command.topic);
  const bool is_new = found == subscribers_.end();
  if (!is_new && found->second.type == command.type) return;
  if (is_new && !may_register(command)) return;
  auto subscription = replace(
      command.topic, is_new ? nullptr : &found->second.subscription,
      [&] { return open_subscription(command.topic, command.type); },
      [&] { return open_subscription(command.topic, found->second.type); });
  if (!subscription) {
    const bool gone = !is_new && found->second.subscription == nullptr;
    log_error("cannot subscribe to " + command.topic +
                  (gone ? ", and reopening it as " + found->second.type + " failed too" : ""),
              subscription.error());
    if (gone) subscribers_.erase(found);
    return;
  }
  subscribers_.insert_or_assign(command.topic, Subscriber{command.type, std::move(*subscription)});
}

void Session::add_ros_service(const Command& command) {
  if (!ros_services_.contains(command.topic) && !may_register(command)) return;
  std::string type = type_in_graph(command.type, true);
  if (const auto known = line_->facade.types().service(type); !known) {
    return log_error("cannot call " + command.topic, known.error());
  }
  ros_services_.insert_or_assign(command.topic, std::move(type));
}

void Session::add_unity_service(const Command& command) {
  if (!may_register(command)) return;
  auto request = [line = line_, name = command.topic](const Buffer& body, Answer answer) {
    if (body.size() > line->max_message) {
      line->facade.clients().count(line->client, "too_large", name);
      return answer(Error{Code::overloaded,
                          "the request has " + std::to_string(body.size()) +
                              " bytes, more than the limit of " +
                              std::to_string(line->max_message) + ". Raise --max-message",
                          name});
    }
    const auto id = line->requests.add(std::move(answer));
    if (!id) return;
    line->send(net::kControl, name,
               net::Message(frame_and_head("__request", service_id(*id), name, body.size()), body));
  };
  auto displaced = [line = line_, name = command.topic] {
    line->note("__warn", "another client has taken over the service " + name);
  };
  auto open = [line = line_, service = in_graph(command.topic),
               type = type_in_graph(command.type, true), form = settings_.form(),
               request = std::move(request)] {
    return line->facade.services().open_server(line->client, service, type, form, request);
  };
  const auto opened = unity_services_->take(this, in_graph(command.topic), command.type,
                                            std::move(displaced), std::move(open));
  if (!opened) log_error("cannot serve " + command.topic, opened.error());
}

void Session::remove(std::string_view kind, const std::string& name, bool was_there) {
  if (was_there) return;
  line_->note("__warn", "the " + std::string(kind) + " " + name + " was not registered");
}

void Session::list_topics() {
  std::vector<TopicInfo> topics = line_->facade.topics().list();
  for (TopicInfo& topic : topics) {
    // Removes "/msg", which type names of Unity do not have.
    if (const auto part = topic.type.find("/msg/"); part != std::string::npos) {
      topic.type.erase(part, 4);
    }
  }
  std::erase_if(topics, [](const TopicInfo& topic) { return topic.type.empty(); });
  line_->send(net::kControl, "__topic_list",
              net::Message(whole_frame("__topic_list", topic_list(topics))));
}

}  // namespace hyphos::gateway::ros_tcp
