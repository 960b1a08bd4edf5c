#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hyphos/node.hpp"

namespace hyphos {

namespace detail {

/// The kind of a call's message. The numbers are part of the wire format
/// (docs/reference/services.md).
enum class CallKind : std::uint64_t {
  none,
  request,   ///< client to server
  cancel,    ///< client to server: the reply is no longer needed, or the goal is to end
  reply,     ///< the reply, or the result of a goal that succeeded
  error,     ///< instead of a reply: code, where and message as text
  accepted,  ///< actions: the goal will be executed
  feedback,  ///< actions
  started,   ///< actions: the goal is being executed
  canceled,  ///< actions: the result of a goal that was canceled
  aborted,   ///< actions: the result of a goal that failed
};
[[nodiscard]] constexpr bool is_final(CallKind kind) {
  return kind == CallKind::reply || kind == CallKind::error || kind == CallKind::canceled ||
         kind == CallKind::aborted;
}
[[nodiscard]] inline CallKind kind_of(const Delivery& delivery) {
  return static_cast<CallKind>(delivery.block->meta().call.kind);
}

/// Types of both directions. `request` and `reply` have the common id of the call, and each has its
/// own size.
struct CallTypes {
  bool action = false;
  TypeSupport request;
  TypeSupport reply;
  std::vector<TypeDefinition> definitions = {};  ///< of all parts that have one
};
/// The id of a service's channels covers both types. A mismatch of either is rejected at connect.
[[nodiscard]] HYPHOS_EXPORT CallTypes service_types(const TypeSupport& request,
                                                    const TypeSupport& reply);
[[nodiscard]] HYPHOS_EXPORT CallTypes action_types(const TypeSupport& goal,
                                                   const TypeSupport& feedback,
                                                   const TypeSupport& result);

/// Receives the events of one call. Called in the receiving thread: must not block, publish or run
/// user code. failed() or a final kind is the last event. `heard()` never gets the kind `error`.
class CallListener {
 public:
  virtual ~CallListener() = default;
  virtual void heard(CallKind kind, const Delivery& message) = 0;
  virtual void failed(const Error& error) = 0;
};

/// A locked mutex and the condition on which its owner waits. Defined in node/.
struct WaitPlace;

/// Waiting in cooperation with the thread pool, so that blocked callbacks cannot starve it.
class HYPHOS_EXPORT PoolWait {
 public:
  virtual ~PoolWait() = default;
  /// Waits at `place` until `ready`. Errors: timeout, overloaded (too many callbacks wait),
  /// unsupported (the calling thread is the one that would deliver the awaited event).
  virtual Result<void> wait(const WaitPlace& place, std::int64_t deadline_ns,
                            const std::function<bool()>& ready) = 0;
  /// Runs `work` on the pool.
  virtual void post(std::function<void()> work) = 0;
};

/// The type-erased half of a Client, implemented in node/.
class HYPHOS_EXPORT CallClient : public PoolWait {
 public:
  /// The publisher of requests: block(), loan().
  virtual PublisherCore& sender() = 0;
  /// True if the next request will be sent to another process.
  [[nodiscard]] virtual bool travels() const = 0;
  /// Sends a request now, or as soon as there is a server. `deadline_ns`: CLOCK_MONOTONIC, 0 for
  /// none. Returns the id of the call. Returns 0 if the call failed immediately, after calling the
  /// listener's failed().
  virtual std::uint64_t start(BlockRef request, std::int64_t deadline_ns,
                              std::shared_ptr<CallListener> listener) = 0;
  /// Notifies the server that the reply is no longer needed. The call continues until the server
  /// replies.
  virtual void cancel(std::uint64_t id) = 0;
  /// Ends the call as its deadline would. Calls failed() before it returns, unless the call has
  /// just ended.
  virtual void expire(std::uint64_t id) = 0;
  [[nodiscard]] virtual bool ready() const = 0;
  virtual Result<void> wait_for_server(Duration timeout) = 0;
  [[nodiscard]] virtual const std::string& name() const = 0;
};

/// One request at its server. If the last reference is dropped without a reply, the client gets an
/// error.
class HYPHOS_EXPORT Exchange : public PoolWait {
 public:
  [[nodiscard]] virtual const Delivery& request() const = 0;
  virtual PublisherCore& sender() = 0;
  [[nodiscard]] virtual bool travels() const = 0;
  /// Sends one message of the reply. Errors: disconnected (the client is gone, or the call has
  /// ended), overloaded (its queue is full), already_exists (there is a reply already).
  virtual Result<void> send(CallKind kind, BlockRef message) = 0;
  virtual Result<void> fail(const Error& error) = 0;
  [[nodiscard]] virtual bool answered() const = 0;
  /// True if the client has canceled, has given up or is gone.
  [[nodiscard]] virtual bool canceled() const = 0;
  [[nodiscard]] virtual bool client_gone() const = 0;
  /// Calls `hook` on the pool once canceled() is true. Replaces an earlier hook.
  virtual void on_cancel(std::function<void()> hook) = 0;
};

/// The type-erased half of a Service, implemented in node/.
class HYPHOS_EXPORT CallServer {
 public:
  virtual ~CallServer() = default;
  virtual void close() = 0;
  [[nodiscard]] virtual bool is_closed() const = 0;
  [[nodiscard]] virtual std::size_t pending() const = 0;
  [[nodiscard]] virtual const std::string& name() const = 0;
};

/// A block with the value. If the message leaves the process, the memory needs no further copy.
template <typename T>
BlockRef make_block(PublisherCore& core, bool travels, T value) {
  BlockRef block = core.block();
  if constexpr (Structure<T>) {
    if (travels) {
      if (WritableBuffer memory = core.loan(sizeof(T)); !memory.empty()) {
        std::memcpy(memory.data(), &value, sizeof(T));
        block->set_encoded(std::move(memory).freeze(sizeof(T)), {});
        block->set_in_place(type_support<T>());
        return block;
      }
    }
  } else if constexpr (std::same_as<T, Buffer>) {
    block->set_encoded(value, {});
  }
  ::new (block->storage()) T(std::move(value));
  block->set_stored(type_support<T>());
  return block;
}

/// The value of a call's message, without a copy. Code::corrupt if its bytes do not parse.
template <typename T>
Result<Message<T>> read_block(const Delivery& delivery, const std::string& name) {
  const void* value = delivery.block->value(type_support<T>());
  if (value != nullptr) return Message<T>(delivery, value);
  return Error{Code::corrupt,
               "a message of '" + name + "' does not parse as " + type_support<T>().id.name +
                   ". Check both sides' message definitions",
               name};
}

/// A block with these bytes. Afterwards `message` is empty, so that only the block occupies loans.
inline BlockRef make_raw_block(PublisherCore& core, RawMessage& message) {
  const RawMessage taken = std::exchange(message, {});
  BlockRef block = core.block();
  block->set_encoded(taken.payload, taken.buffers);
  return block;
}

/// Starts a call, blocks until it has ended and returns its last message.
[[nodiscard]] HYPHOS_EXPORT Result<Delivery> call_and_wait(CallClient& client, BlockRef request,
                                                           Duration timeout);

/// The call of which hyphos/future.hpp makes a std::future.
template <typename Rep>
struct CallNeedsFutureHpp;

template <typename Rep, typename F>
class AsyncListener final : public CallListener {
 public:
  AsyncListener(std::shared_ptr<CallClient> client, F function)
      : client_(std::move(client)), function_(std::move(function)) {}
  void heard(CallKind kind, const Delivery& message) override {
    if (is_final(kind)) finish(message);
  }
  void failed(const Error& error) override { finish(error); }

 private:
  void finish(Result<Delivery> end) {
    auto client = std::move(client_);
    CallClient* const pool = client.get();
    pool->post([client = std::move(client), function = std::make_shared<F>(std::move(function_)),
                end = std::move(end)] {
      const auto message =
          end ? read_block<Rep>(*end, client->name()) : Result<Message<Rep>>(end.error());
      (*function)(message ? Result<Rep>(Rep(**message)) : Result<Rep>(message.error()));
    });
  }
  std::shared_ptr<CallClient> client_;
  F function_;
};

/// The same for bytes. `on_pool`: false if the callback runs in the receiving thread.
template <bool on_pool, typename F>
class RawListener final : public CallListener {
 public:
  RawListener(std::shared_ptr<CallClient> client, F function)
      : client_(std::move(client)), function_(std::move(function)) {}
  void heard(CallKind kind, const Delivery& message) override {
    if (is_final(kind)) finish(MessageRef(message));
  }
  void failed(const Error& error) override { finish(error); }

 private:
  void finish(Result<MessageRef> end) {
    auto client = std::move(client_);
    if constexpr (on_pool) {
      CallClient* const pool = client.get();
      pool->post([client = std::move(client), function = std::move(function_),
                  end = std::move(end)]() mutable { function(std::move(end)); });
    } else {
      function_(std::move(end));
    }
  }
  std::shared_ptr<CallClient> client_;
  F function_;
};

}  // namespace detail

/// The type of a service or of an action: one id for the types of all its messages. A client and a
/// server with different ids are refused at connect, by name.
struct CallType {
  TypeId id;
  bool action = false;
};
/// The type of a service with these messages.
[[nodiscard]] HYPHOS_EXPORT CallType service_type(const TypeId& request, const TypeId& reply);
/// The type of an action with these messages.
[[nodiscard]] HYPHOS_EXPORT CallType action_type(const TypeId& goal, const TypeId& feedback,
                                                 const TypeId& result);

/// The memory for the next message of a call: shared memory if the message will leave the process,
/// the heap otherwise. Get one per message, and use it only as long as the client, the request or
/// the goal that returned it. Thread-safe.
class CallMemory {
 public:
  CallMemory(detail::PublisherCore& sender, bool travels) : sender_(travels ? &sender : nullptr) {}
  /// `size` uninitialised bytes that the receiver reads without a further copy. Allocates on the
  /// heap if shared memory cannot be used.
  [[nodiscard]] WritableBuffer loan_bytes(std::size_t size) const {
    WritableBuffer memory = sender_ != nullptr ? sender_->loan(size) : WritableBuffer();
    return memory.empty() ? WritableBuffer::on_heap(size) : std::move(memory);
  }

 private:
  detail::PublisherCore* sender_;  // null: the heap
};

/// Replies to one request, now or later, from any thread. Cheap to copy. Only the first reply
/// counts. If the last copy is destroyed without a reply, the client gets an error immediately
/// instead of a timeout.
template <typename Rep>
class Responder {
 public:
  Responder() = default;
  explicit Responder(detail::ExchangeRef exchange) : exchange_(std::move(exchange)) {}

  /// Errors: disconnected (the client no longer waits), overloaded (the client's queue is full),
  /// already_exists (there is a reply already).
  Result<void> reply(Rep value) const {
    return exchange_->send(
        detail::CallKind::reply,
        detail::make_block(exchange_->sender(), exchange_->travels(), std::move(value)));
  }
  /// Makes the client's call() return this error. `message` names the cause and the remedy.
  Result<void> refuse(Code code, std::string message) const {
    return refuse({code, std::move(message), {}});
  }
  Result<void> refuse(const Error& error) const { return exchange_->fail(error); }
  /// True once the client has given up or is gone, so that a reply is useless.
  [[nodiscard]] bool canceled() const { return exchange_->canceled(); }
  /// Memory that the client reads directly. See Publisher::loan_bytes.
  [[nodiscard]] WritableBuffer loan_bytes(std::size_t size) const {
    WritableBuffer memory =
        exchange_->travels() ? exchange_->sender().loan(size) : WritableBuffer();
    return memory.empty() ? WritableBuffer::on_heap(size) : std::move(memory);
  }

 private:
  detail::ExchangeRef exchange_;
};

/// A request whose types are known only by name, with its responder. Replies now or later, from any
/// thread. Cheap to copy, and copying does not copy bytes. Only the first reply counts. If the last
/// copy is destroyed without a reply, the client gets an error immediately instead of a timeout.
class RawRequest {
 public:
  RawRequest() = default;
  explicit RawRequest(detail::ExchangeRef exchange) : exchange_(std::move(exchange)) {}

  explicit operator bool() const { return exchange_ != nullptr; }
  /// The request, or the goal.
  [[nodiscard]] MessageRef message() const { return MessageRef(exchange_->request()); }
  /// The memory for the reply.
  [[nodiscard]] CallMemory memory() const { return {exchange_->sender(), exchange_->travels()}; }
  /// Errors as Responder::reply(). Does not copy the bytes.
  Result<void> reply(RawMessage reply) const {
    return exchange_->send(detail::CallKind::reply,
                           detail::make_raw_block(exchange_->sender(), reply));
  }
  /// Makes the client's call() return this error. `message` names the cause and the remedy.
  Result<void> refuse(Code code, std::string message) const {
    return refuse({code, std::move(message), {}});
  }
  Result<void> refuse(const Error& error) const { return exchange_->fail(error); }
  /// True after the first reply() or refuse().
  [[nodiscard]] bool answered() const { return exchange_->answered(); }
  /// True once the client has given up or is gone, so that a reply is useless.
  [[nodiscard]] bool canceled() const { return exchange_->canceled(); }

 private:
  detail::ExchangeRef exchange_;
};

/// A handle to a service of this process. The node owns the service, so dropping the handle does
/// not end it.
class Service {
 public:
  Service() = default;
  explicit Service(std::shared_ptr<detail::CallServer> core) : core_(std::move(core)) {}
  /// Ends the service. Requests without a reply fail at their clients as `disconnected`. On return
  /// its callback is not running, unless the callback itself called close(). Idempotent.
  void close() const {
    if (core_) core_->close();
  }
  /// Number of accepted requests without a reply.
  [[nodiscard]] std::size_t pending() const { return core_->pending(); }
  [[nodiscard]] const std::string& name() const { return core_->name(); }

 private:
  std::shared_ptr<detail::CallServer> core_;
};

/// The client of a service. Cheap to copy and thread-safe. All copies are one client.
///
/// Up to ClientOptions::max_pending calls may be in flight. A call ends in exactly one of these
/// results:
/// - the reply
/// - the server's refusal
/// - `not_found`: no server appeared within the timeout
/// - `timeout`: there is a server, but no reply
/// - `disconnected`: the server is gone, which is detected immediately
/// - `overloaded`: a limit was reached, at the client or at the server
/// - `type_mismatch`
/// - `corrupt`
///
/// A request runs at most once. Cost: two heap allocations per call besides those of its types.
/// Nothing is encoded within one process.
template <typename Req, typename Rep>
class Client {
 public:
  Client() = default;
  explicit Client(std::shared_ptr<detail::CallClient> core) : core_(std::move(core)) {}

  /// Blocks until the reply. May be called from a callback on the pool: another thread replaces the
  /// blocked one meanwhile. In an `inline_` callback it fails with Code::unsupported. Use
  /// call_async there.
  Result<Rep> call(Req request, Duration timeout = kCallTimeout) const {
    auto message = call_message(std::move(request), timeout);
    if (!message) return message.error();
    return Rep(**message);
  }
  /// The same without a copy of the reply.
  Result<Message<Rep>> call_message(Req request, Duration timeout = kCallTimeout) const {
    auto last = detail::call_and_wait(
        *core_, detail::make_block(core_->sender(), core_->travels(), std::move(request)), timeout);
    if (!last) return last.error();
    return detail::read_block<Rep>(*last, core_->name());
  }
  /// Returns immediately. `callback(Result<Rep>)` runs once, on the pool, never inside this call.
  template <typename F>
    requires std::invocable<F&, Result<Rep>>
  void call_async(Req request, Duration timeout, F callback) const {
    auto listener = std::make_shared<detail::AsyncListener<Rep, F>>(core_, std::move(callback));
    core_->start(detail::make_block(core_->sender(), core_->travels(), std::move(request)),
                 (monotonic_now() + timeout).ns, std::move(listener));
  }
  /// Returns a std::future. Needs `#include <hyphos/future.hpp>`. Waiting for it in a callback
  /// blocks a thread of the pool. call() does not.
  template <typename R = Rep>
  [[nodiscard]] auto call_async(Req request, Duration timeout = kCallTimeout) const {
    return detail::CallNeedsFutureHpp<R>::start(*this, std::move(request), timeout);
  }

  /// True if a server is known now. Shortly after the start of either side it may not be known yet.
  /// Calls wait for it.
  [[nodiscard]] bool ready() const { return core_->ready(); }
  /// Errors: not_found, type_mismatch.
  [[nodiscard]] Result<void> wait_for_server(Duration timeout = kCallTimeout) const {
    return core_->wait_for_server(timeout);
  }
  [[nodiscard]] const std::string& name() const { return core_->name(); }

 private:
  std::shared_ptr<detail::CallClient> core_;
};

/// The client of a service or an action whose types are known only by name. Cheap to copy and
/// thread-safe. All copies are one client. Ends of a call, errors and bounds are those of Client.
///
/// Cost: two heap allocations per call. Bytes from memory() are sent without a copy. Any other
/// bytes are copied once if they leave the process.
class RawClient {
 public:
  RawClient() = default;
  explicit RawClient(std::shared_ptr<detail::CallClient> core) : core_(std::move(core)) {}

  explicit operator bool() const { return core_ != nullptr; }
  /// The memory for the next request.
  [[nodiscard]] CallMemory memory() const { return {core_->sender(), core_->travels()}; }
  /// Blocks until the reply, as Client::call(). For an action, until the result of a goal.
  [[nodiscard]] Result<MessageRef> call(RawMessage request, Duration timeout = kCallTimeout) const {
    auto last =
        detail::call_and_wait(*core_, detail::make_raw_block(core_->sender(), request), timeout);
    if (!last) return last.error();
    return MessageRef(*last);
  }
  /// Returns immediately. `callback(Result<MessageRef>)` runs once, on the pool, never inside this
  /// call. The client stays open until then. Returns the id of the call for give_up().
  template <typename F>
    requires std::invocable<F&, Result<MessageRef>>
  std::uint64_t call_async(RawMessage request, Duration timeout, F callback) const {
    return start<true>(std::move(request), timeout, std::move(callback));
  }
  /// The same for programs with their own event loop: `callback` runs in the thread that receives
  /// the reply, or inside this call if that fails at once. It must be short, and must not block,
  /// publish, call or read the message.
  template <typename F>
    requires std::invocable<F&, Result<MessageRef>>
  std::uint64_t call_inline(RawMessage request, Duration timeout, F callback) const {
    return start<false>(std::move(request), timeout, std::move(callback));
  }
  /// Ends a call as its timeout would, and notifies the server. No effect if the call has ended.
  void give_up(std::uint64_t id) const {
    if (id != 0) core_->expire(id);
  }

  /// True if a server is known now. See Client::ready().
  [[nodiscard]] bool ready() const { return core_->ready(); }
  /// Errors: not_found, type_mismatch.
  [[nodiscard]] Result<void> wait_for_server(Duration timeout = kCallTimeout) const {
    return core_->wait_for_server(timeout);
  }
  [[nodiscard]] const std::string& name() const { return core_->name(); }

 protected:
  std::shared_ptr<detail::CallClient> core_;

 private:
  template <bool on_pool, typename F>
  std::uint64_t start(RawMessage request, Duration timeout, F callback) const {
    auto listener = std::make_shared<detail::RawListener<on_pool, F>>(core_, std::move(callback));
    return core_->start(detail::make_raw_block(core_->sender(), request),
                        (monotonic_now() + timeout).ns, std::move(listener));
  }
};

namespace detail {

template <typename T>
struct IsResult : std::false_type {};
template <typename T>
struct IsResult<Result<T>> : std::true_type {};

/// Makes a ServerCallback from the user's function: (request, responder), or request → reply.
template <typename Req, typename Rep, typename F>
ServerCallback service_callback(F function, std::string name) {
  return [function = std::move(function),
          name = std::move(name)](const ExchangeRef& exchange) mutable {
    auto request = read_block<Req>(exchange->request(), name);
    const Responder<Rep> responder(exchange);
    if (!request) {
      (void)responder.refuse(request.error());
      return;
    }
    const auto answer = [&responder](auto&& result) {
      if constexpr (IsResult<std::remove_cvref_t<decltype(result)>>::value) {
        (void)(result ? responder.reply(std::move(*result)) : responder.refuse(result.error()));
      } else {
        (void)responder.reply(std::forward<decltype(result)>(result));
      }
    };
    if constexpr (std::invocable<F&, Message<Req>, Responder<Rep>>) {
      function(*request, responder);
    } else if constexpr (std::invocable<F&, Message<Req>>) {
      answer(function(*request));
    } else {
      static_assert(std::invocable<F&, const Req&>,
                    "a service's callback takes (Message<Req>, Responder<Rep>) and replies "
                    "through the responder, or Message<Req> or const Req& and returns Rep or "
                    "Result<Rep>");
      answer(function(**request));
    }
  };
}

}  // namespace detail

template <typename Req, typename Rep, typename F>
Service Node::service(const std::string& name, ServiceOptions options, F callback) const {
  return Service(open_server(name, detail::service_types(type_support<Req>(), type_support<Rep>()),
                             options, detail::service_callback<Req, Rep>(std::move(callback), name))
                     .or_throw());
}

template <typename Req, typename Rep, typename F>
  requires(!std::convertible_to<F, ServiceOptions>)
Service Node::service(const std::string& name, F callback) const {
  return service<Req, Rep>(name, ServiceOptions{}, std::move(callback));
}

template <typename Req, typename Rep>
Client<Req, Rep> Node::client(const std::string& name, ClientOptions options) const {
  return Client<Req, Rep>(
      open_client(name, detail::service_types(type_support<Req>(), type_support<Rep>()), options)
          .or_throw());
}

}  // namespace hyphos
