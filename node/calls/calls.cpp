#include "node/calls/calls.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <exception>

#include "base/log.hpp"

namespace hyphos {
namespace {

constexpr std::size_t kMaxTypePart = 160;
constexpr std::size_t kMaxErrorBytes = 4096;

std::string type_part(const TypeId& id) {
  const std::string encoding = "(" + std::string(to_string(id.encoding)) + ")";
  return id.name.substr(0, kMaxTypePart - encoding.size()) + encoding;
}

/// The size and alignment that a block of the channel needs. The id is that of the whole service.
TypeSupport room_for(const TypeId& id, std::initializer_list<const TypeSupport*> types) {
  TypeSupport room;
  room.id = id;
  for (const TypeSupport* type : types) {
    room.size = std::max(room.size, type->size);
    room.align = std::max(room.align, type->align);
  }
  return room;
}

std::vector<TypeDefinition> definitions_of(std::initializer_list<const TypeSupport*> types) {
  std::vector<TypeDefinition> found;
  for (const TypeSupport* type : types) {
    if (type->definition != nullptr) found.push_back(type->definition);
  }
  return found;
}

Result<void> check_name(const std::string& service) {
  const std::string problem = call_name_problem(service);
  if (problem.empty()) return success();
  return Error{Code::invalid_config, "'" + service + "': " + problem, service};
}

}  // namespace

// The hashes of the parts replace the size. So two structs with the same name and different sizes
// make different services.
detail::CallTypes detail::service_types(const TypeSupport& request, const TypeSupport& reply) {
  const TypeId id = make_type_id(type_part(request.id) + " -> " + type_part(reply.id),
                                 Encoding::custom, request.id.hash ^ std::rotl(reply.id.hash, 1));
  return {false, room_for(id, {&request}), room_for(id, {&reply}),
          definitions_of({&request, &reply})};
}

detail::CallTypes detail::action_types(const TypeSupport& goal, const TypeSupport& feedback,
                                       const TypeSupport& result) {
  const TypeId id = make_type_id(
      type_part(goal.id) + " -> " + type_part(feedback.id) + " -> " + type_part(result.id),
      Encoding::custom,
      goal.id.hash ^ std::rotl(feedback.id.hash, 1) ^ std::rotl(result.id.hash, 2));
  return {true, room_for(id, {&goal}), room_for(id, {&feedback, &result}),
          definitions_of({&goal, &feedback, &result})};
}

namespace {

/// Receives the end of one call.
class CallWaiter final : public detail::CallListener {
 public:
  void heard(detail::CallKind kind, const detail::Delivery& message) override {
    if (!detail::is_final(kind)) return;
    const MutexLock lock(mutex_);
    done_ = true;
    message_ = message;
    changed_.notify_all();
  }
  void failed(const Error& error) override {
    const MutexLock lock(mutex_);
    done_ = true;
    error_ = error;
    changed_.notify_all();
  }
  /// Waits for the end of the call `id` of `client`.
  Result<detail::Delivery> wait(detail::CallClient& client, std::uint64_t id,
                                std::int64_t deadline_ns) {
    UniqueLock lock(mutex_);
    const auto done = [this]() HYPHOS_REQUIRES(mutex_) { return done_; };
    const auto waited = calls::wait_by(client, lock, changed_, deadline_ns, done);
    if (!waited) {
      lock.unlock();
      client.expire(id);
      lock.lock();
      // expire() may have failed the call, or another thread is about to end it.
      changed_.wait(lock, done);
      if (waited.error().code != Code::timeout) return waited.error();
    }
    if (message_.block) return std::move(message_);
    return error_;
  }

 private:
  Mutex mutex_;
  Condition changed_;
  bool done_ HYPHOS_GUARDED_BY(mutex_) = false;
  detail::Delivery message_ HYPHOS_GUARDED_BY(mutex_);
  Error error_ HYPHOS_GUARDED_BY(mutex_);
};

}  // namespace

Result<detail::Delivery> detail::call_and_wait(CallClient& client, BlockRef request,
                                               Duration timeout) {
  const std::int64_t deadline = (monotonic_now() + timeout).ns;
  const auto waiter = std::make_shared<CallWaiter>();
  const std::uint64_t id = client.start(std::move(request), 0, waiter);
  return waiter->wait(client, id, deadline);
}

namespace calls {

Result<Channels> open_channels(graph::Graph& graph, const std::string& service,
                               const detail::CallTypes& types) {
  if (auto good = check_name(service); !good) return good.error();
  const std::string base = call_channel_base(service, types.action);
  Channels channels;
  channels.service = service;
  auto request = graph.internal_channel(base + "/request", types.request, call_policy());
  if (!request) return request.error();
  channels.request = std::move(*request);
  auto reply = graph.internal_channel(base + "/reply", types.reply, call_policy());
  if (!reply) return reply.error();
  channels.reply = std::move(*reply);
  for (const TypeDefinition definition : types.definitions) graph.definitions().add(definition);
  return channels;
}

std::string describe(const std::string& service, bool action) {
  return (action ? "action '" : "service '") + service + "'";
}

Buffer encode_error(const Error& error) {
  std::string where = error.where;
  std::replace(where.begin(), where.end(), '\n', ' ');
  std::string text = std::string(to_string(error.code)) + '\n' + where + '\n' + error.message;
  if (text.size() > kMaxErrorBytes) text.resize(kMaxErrorBytes);
  return Buffer::copy_of(text);
}

Error decode_error(const Buffer& payload, const std::string& service) {
  const std::string_view text = payload.text();
  const std::size_t first = text.find('\n');
  const std::size_t second = first == std::string_view::npos ? first : text.find('\n', first + 1);
  if (second != std::string_view::npos && text.size() <= kMaxErrorBytes) {
    if (const auto code = code_named(text.substr(0, first))) {
      std::string where(text.substr(first + 1, second - first - 1));
      return {*code, std::string(text.substr(second + 1)),
              where.empty() ? service : std::move(where)};
    }
  }
  return {Code::corrupt, "the server refused, but its reason is not readable", service};
}

void post(graph::Executor& executor, const std::string& service, std::function<void()> work) {
  executor.enqueue(Priority::normal, [&executor, service, work = std::move(work)] {
    try {
      work();
    } catch (...) {
      const graph::Failure failure = graph::Failure::current();
      if (executor.is_normal_end(failure)) return;
      log::OncePerSecond each;  // calls are rare, so every failure has its line
      failure.log("a callback of '" + service + "'", each);
    }
  });
}

Result<void> wait_on_pool(graph::Executor& executor, const std::string& service,
                          UniqueLock<Mutex>& lock, Condition& changed, std::int64_t deadline_ns,
                          const std::function<bool()>& ready) {
  if (ready()) return success();
  if (graph::Channel::delivering_here()) {
    return Error{Code::unsupported,
                 "a callback with mode 'inline' must not wait: it runs in the thread that "
                 "receives the replies. Use call_async, or mode serial",
                 service};
  }
  const graph::Executor::Waiting waiting(executor);
  if (!waiting) {
    return Error{Code::overloaded,
                 std::to_string(graph::Executor::kMaxWaiting) +
                     " callbacks of this process already wait for replies. Use call_async",
                 service};
  }
  if (deadline_ns == 0) {
    changed.wait(lock, ready);
    return success();
  }
  const std::chrono::steady_clock::time_point deadline{std::chrono::nanoseconds(deadline_ns)};
  if (changed.wait_until(lock, deadline, ready)) return success();
  return Error{Code::timeout, "no reply arrived in time", service};
}

}  // namespace calls
}  // namespace hyphos
