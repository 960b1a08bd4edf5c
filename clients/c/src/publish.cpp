#include <memory>

#include "handles.hpp"

using namespace hyphos;
using namespace hyphos::c;

namespace {

Result<void> finish(const hyphos_publisher& publisher, const Published& sent,
                    hyphos_published* out) {
  if (out != nullptr) *out = {sent.sequence, sent.accepted, sent.dropped};
  if (sent) return success();
  return Error{*sent.failure, "the message could not be published", publisher.core.channel()};
}

/// A receiver would refuse a message with these faults, or read beyond its end.
Result<void> check(const hyphos_publisher& publisher, std::size_t size, std::size_t buffers) {
  if (publisher.bytes != 0 && size != publisher.bytes) {
    return Error{Code::invalid_config,
                 "a " + publisher.type.name + " has " + std::to_string(publisher.bytes) +
                     " bytes, not " + std::to_string(size),
                 publisher.core.channel()};
  }
  if (buffers > 0 && publisher.type.encoding != Encoding::attached) {
    return Error{
        Code::invalid_config,
        "attached buffers need a channel of encoding HYPHOS_ATTACHED, but this channel is " +
            std::string(to_string(publisher.type.encoding)),
        publisher.core.channel()};
  }
  return success();
}

WritableBuffer take_memory(hyphos_loan& loan) {
  WritableBuffer memory(static_cast<std::byte*>(loan.data), static_cast<std::size_t>(loan.size),
                        static_cast<BufferOwner*>(loan.owner));
  loan = {};
  return memory;
}

/// Ends loans on each path, including errors.
class Ended {
 public:
  Ended(hyphos_loan* loans, std::size_t count) : loans_(loans), count_(loans ? count : 0) {}
  Ended(const Ended&) = delete;
  Ended& operator=(const Ended&) = delete;
  ~Ended() {
    for (std::size_t i = 0; i < count_; ++i) hyphos_loan_drop(&loans_[i]);
  }

 private:
  hyphos_loan* const loans_;
  const std::size_t count_;
};

}  // namespace

extern "C" {

hyphos_code hyphos_publisher_open(hyphos_node* node, const char* channel, const hyphos_type* type,
                                  const hyphos_publisher_options* options,
                                  hyphos_publisher** publisher, hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (node == nullptr) return is_null("node");
    if (channel == nullptr) return is_null("channel");
    if (publisher == nullptr) return is_null("publisher");
    auto id = read_type(type);
    if (!id) return id.error();
    const auto given = read_struct(options, "hyphos_publisher_options");
    if (!given) return given.error();
    const auto policy = read_policy(given.value().policy);
    if (!policy) return policy.error();
    const Scope scope = given.value().local != 0 ? Scope::local : Scope::network;
    auto core = node->state->node.raw_publisher(channel, *id, {scope, policy.value()});
    if (!core) return core.error();
    const bool exact = id->encoding == Encoding::structure;
    *publisher = new hyphos_publisher{node->state, *core, *id, exact ? type->bytes : 0};
    return success();
  });
}

void hyphos_publisher_close(hyphos_publisher* publisher) {
  if (publisher == nullptr) return;
  quietly([&] {
    const std::unique_ptr<hyphos_publisher> ended(publisher);
    const auto node = alive(ended->node);
    ended->core = {};
  });
}

uint32_t hyphos_publisher_listeners(const hyphos_publisher* publisher) {
  return publisher == nullptr ? 0 : publisher->core.listeners();
}

hyphos_code hyphos_publish(hyphos_publisher* publisher, const void* payload, size_t size,
                           const hyphos_bytes* buffers, size_t buffer_count,
                           hyphos_published* published, hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (publisher == nullptr) return is_null("publisher");
    if (auto fits = check(*publisher, size, buffer_count); !fits) return fits;
    const auto node = alive(publisher->node);
    if (!node) return node.error();
    const RawPublisher& core = publisher->core;
    auto parts = copy_parts(payload, size, buffers, buffer_count,
                            [&core](std::size_t bytes) { return core.loan_bytes(bytes); });
    if (!parts) return parts.error();
    return finish(*publisher, core.publish(parts->payload, parts->buffers), published);
  });
}

hyphos_code hyphos_publish_message(hyphos_publisher* publisher, const hyphos_message* message,
                                   hyphos_published* published, hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (publisher == nullptr) return is_null("publisher");
    if (message == nullptr || message->block == nullptr) return is_null("message");
    const MessageRef source = MessageRef::share(message->block);
    if (source.meta().type_hash != publisher->type.hash) {
      return Error{Code::type_mismatch, "the message is not a " + publisher->type.name,
                   publisher->core.channel()};
    }
    const auto node = alive(publisher->node);
    if (!node) return node.error();
    const Envelope* const envelope = source.encoded();
    if (envelope == nullptr) return Error{Code::corrupt, "the message to publish has no bytes", ""};
    return finish(*publisher, publisher->core.publish(envelope->payload, envelope->buffers),
                  published);
  });
}

hyphos_code hyphos_loan_bytes(hyphos_publisher* publisher, size_t size, hyphos_loan* loan,
                              hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (publisher == nullptr) return is_null("publisher");
    if (loan == nullptr) return is_null("loan");
    if (size == 0) return Error{Code::invalid_config, "a loan must have at least 1 byte", ""};
    const auto node = alive(publisher->node);
    if (!node) return node.error();
    WritableBuffer memory = publisher->core.loan_bytes(size);
    hyphos_loan lent{memory.data(), memory.size(), nullptr};
    // The only reference of the memory passes to the caller.
    const Buffer frozen = std::move(memory).freeze();
    if (frozen.owner() != nullptr) frozen.owner()->add_ref();
    lent.owner = frozen.owner();
    *loan = lent;
    return success();
  });
}

void hyphos_loan_drop(hyphos_loan* loan) {
  if (loan != nullptr) quietly([&] { (void)take_memory(*loan); });
}

hyphos_code hyphos_publish_loan(hyphos_publisher* publisher, hyphos_loan* loan, size_t size,
                                hyphos_published* published, hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    const Ended ended(loan, 1);
    if (publisher == nullptr) return is_null("publisher");
    if (loan == nullptr || loan->data == nullptr) return is_null("loan");
    if (size > loan->size) {
      return Error{Code::out_of_range,
                   "the loan has " + std::to_string(loan->size) + " bytes, less than " +
                       std::to_string(size),
                   publisher->core.channel()};
    }
    if (auto fits = check(*publisher, size, 0); !fits) return fits;
    const auto node = alive(publisher->node);
    if (!node) return node.error();
    const Buffer payload = take_memory(*loan).freeze(size);
    return finish(*publisher, publisher->core.publish(payload), published);
  });
}

hyphos_code hyphos_publish_attached(hyphos_publisher* publisher, const void* head, size_t size,
                                    hyphos_loan* loans, size_t loan_count,
                                    hyphos_published* published, hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    const Ended ended(loans, loan_count);
    if (publisher == nullptr) return is_null("publisher");
    if (auto fits = check(*publisher, size, loan_count); !fits) return fits;
    if (loan_count > HYPHOS_MAX_BUFFERS) {
      return Error{Code::invalid_config, "loan_count must be at most HYPHOS_MAX_BUFFERS (8)", ""};
    }
    if (loan_count > 0 && loans == nullptr) return is_null("loans");
    const auto node = alive(publisher->node);
    if (!node) return node.error();
    auto parts = copy_parts(head, size, nullptr, 0, &WritableBuffer::on_heap);
    if (!parts) return parts.error();
    for (std::size_t i = 0; i < loan_count; ++i) {
      if (loans[i].data == nullptr) return is_null("the data of a loan");
      parts->buffers.push_back(take_memory(loans[i]).freeze());
    }
    return finish(*publisher, publisher->core.publish(parts->payload, parts->buffers), published);
  });
}

hyphos_code hyphos_publisher_counter(const hyphos_publisher* publisher, const char* name,
                                     uint64_t* value, hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (publisher == nullptr) return is_null("publisher");
    if (name == nullptr) return is_null("name");
    if (value == nullptr) return is_null("value");
    const auto node = alive(publisher->node);
    if (!node) return node.error();
    *value = count_of(node.value()->node, publisher->core.channel(), true, name);
    return success();
  });
}

}  // extern "C"
