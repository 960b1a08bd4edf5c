#include "handles.hpp"

#include <cstring>

namespace hyphos::c {
namespace {

// The same limit as in Python. A smaller head is cheaper on the heap than in a slot of its own.
constexpr std::size_t kSmallHead = 4096;
constexpr std::uint32_t kMaxDepth = 65536;

Error wrong(const char* what, std::int64_t value, const char* right) {
  return {Code::invalid_config,
          std::string(what) + " is " + std::to_string(value) + ". It must be " + right, ""};
}

Result<Buffer> copy_bytes(const void* data, std::size_t size, const char* what, const Lend& lend) {
  if (size == 0) return Buffer();
  if (data == nullptr) return is_null(what);
  WritableBuffer memory = lend(size);
  std::memcpy(memory.data(), data, size);
  return std::move(memory).freeze(size);
}

}  // namespace

Result<NodeRef> alive(const WeakNode& node) {
  if (auto state = node.lock()) {
    CallGate::Entry entry(state->gate);
    if (entry) return NodeRef(std::move(state), std::move(entry));
  }
  return Error{Code::disconnected, "the node of this handle is closed. Open a node again", ""};
}

Result<TypeId> read_type(const hyphos_type* type) {
  if (type == nullptr) return is_null("type");
  if (type->encoding < HYPHOS_STRUCTURE || type->encoding > HYPHOS_CUSTOM) {
    return wrong("type.encoding", type->encoding, "one of HYPHOS_STRUCTURE to HYPHOS_CUSTOM");
  }
  const auto encoding = static_cast<Encoding>(type->encoding);
  if (encoding == Encoding::bytes) return make_type_id("bytes", encoding);
  if (type->name == nullptr || type->name[0] == '\0') return is_null("type.name");
  if (encoding != Encoding::structure) return make_type_id(type->name, encoding);
  if (type->bytes == 0) return wrong("type.bytes", 0, "sizeof the struct");
  return make_type_id(type->name, encoding, static_cast<std::size_t>(type->bytes));
}

Result<std::optional<Policy>> read_policy(const hyphos_policy* policy) {
  if (policy == nullptr) return std::optional<Policy>();
  const auto given = read_struct(policy, "hyphos_policy");
  if (!given) return given.error();
  const hyphos_policy& p = given.value();
  if (p.reliability != HYPHOS_BEST_EFFORT && p.reliability != HYPHOS_RELIABLE) {
    return wrong("policy.reliability", p.reliability, "HYPHOS_BEST_EFFORT or HYPHOS_RELIABLE");
  }
  Policy out = p.reliability == HYPHOS_RELIABLE ? reliable_policy() : Policy{};
  if (p.overflow < HYPHOS_OVERFLOW_IMPLIED || p.overflow > HYPHOS_BLOCK) {
    return wrong("policy.overflow", p.overflow, "one of HYPHOS_OVERFLOW_IMPLIED to HYPHOS_BLOCK");
  }
  if (p.overflow != HYPHOS_OVERFLOW_IMPLIED) out.overflow = static_cast<Overflow>(p.overflow - 1);
  constexpr Priority kPriorities[] = {Priority::normal, Priority::low, Priority::high};
  if (p.priority < HYPHOS_NORMAL || p.priority > HYPHOS_HIGH) {
    return wrong("policy.priority", p.priority, "HYPHOS_NORMAL, HYPHOS_LOW or HYPHOS_HIGH");
  }
  out.priority = kPriorities[p.priority];
  if (p.depth > kMaxDepth) return wrong("policy.depth", p.depth, "at most 65536");
  if (p.depth > 0) out.depth = p.depth;
  if (p.deadline_ms < 0) return wrong("policy.deadline_ms", p.deadline_ms, "0 or more");
  if (p.block_timeout_ms < 0) {
    return wrong("policy.block_timeout_ms", p.block_timeout_ms, "0 or more");
  }
  if (p.lifespan_ms < 0) return wrong("policy.lifespan_ms", p.lifespan_ms, "0 or more");
  if (p.latched_depth > kMaxLatchedDepth) {
    return wrong("policy.latched_depth", p.latched_depth, "at most 256");
  }
  if (p.latched_depth > 1 && p.latched == 0) {
    return wrong("policy.latched_depth", p.latched_depth, "0 without policy.latched");
  }
  out.latched = p.latched != 0;
  if (p.latched_depth > 0) out.latched_depth = p.latched_depth;
  out.lifespan_ms = p.lifespan_ms;
  out.deadline_ms = p.deadline_ms;
  out.block_timeout_ms = p.block_timeout_ms;
  return std::optional<Policy>(out);
}

Result<Mode> read_mode(std::int32_t mode) {
  switch (mode) {
    // Both modes run one callback at a time. The `polled` argument selects the thread.
    case HYPHOS_POLLED:
    case HYPHOS_SERIAL:
      return Mode::serial;
    case HYPHOS_CONCURRENT:
      return Mode::concurrent;
    case HYPHOS_INLINE:
      return Mode::inline_;
    default:
      return wrong("options.mode", mode, "one of HYPHOS_POLLED to HYPHOS_INLINE");
  }
}

namespace {

hyphos_message view_of(const Buffer& payload, const BufferList& buffers) {
  static_assert(HYPHOS_MAX_BUFFERS == kMaxAttachedBuffers);
  hyphos_message out{};
  out.payload = {payload.data(), payload.size()};
  for (const Buffer& buffer : buffers) {
    out.buffers[out.buffer_count++] = {buffer.data(), buffer.size()};
  }
  return out;
}

}  // namespace

hyphos_message view(const Message<RawMessage>& message) {
  hyphos_message out = view_of(message->payload, message->buffers);
  const Stamps stamps = message.stamps();
  out.replayed = message.replayed() ? 1 : 0;
  out.sequence = message.sequence();
  out.sender = message.sender();
  out.published_ns = stamps.publish;
  out.arrived_ns = stamps.arrived;
  out.block = MessageRef::handle_of(message);
  return out;
}

Result<hyphos_message> view(const MessageRef& message) {
  const Envelope* const envelope = message.encoded();
  if (envelope == nullptr) {
    return Error{
        Code::corrupt,
        "the message of a service call has no bytes. Check that both sides have the same version",
        ""};
  }
  hyphos_message out = view_of(envelope->payload, envelope->buffers);
  const Meta& meta = message.meta();
  out.replayed = message.replayed() ? 1 : 0;
  out.sequence = meta.sequence;
  out.sender = meta.sender;
  out.published_ns = meta.stamps.publish;
  out.arrived_ns = message.arrived_ns();
  out.block = message.handle();
  return out;
}

void hold(const hyphos_message& message, hyphos_message& held) {
  (void)MessageRef::share(message.block).release();
  held = message;
}

Result<RawMessage> copy_parts(const void* payload, std::size_t size, const hyphos_bytes* buffers,
                              std::size_t count, const Lend& lend) {
  if (count > HYPHOS_MAX_BUFFERS) {
    return wrong("buffer_count", static_cast<std::int64_t>(count), "at most HYPHOS_MAX_BUFFERS");
  }
  if (count > 0 && buffers == nullptr) return is_null("buffers");
  RawMessage parts;
  for (std::size_t i = 0; i < count; ++i) {
    auto made = copy_bytes(buffers[i].data, static_cast<std::size_t>(buffers[i].size),
                           "the data of a buffer", lend);
    if (!made) return made.error();
    parts.buffers.push_back(std::move(*made));
  }
  const bool beside = count > 0 && size < kSmallHead;
  auto made = copy_bytes(payload, size, "payload", beside ? Lend(&WritableBuffer::on_heap) : lend);
  if (!made) return made.error();
  parts.payload = std::move(*made);
  return parts;
}

Result<RawMessage> copy_parts(const void* payload, std::size_t size, const hyphos_bytes* buffers,
                              std::size_t count, const CallMemory& memory) {
  return copy_parts(payload, size, buffers, count,
                    Lend([&memory](std::size_t bytes) { return memory.loan_bytes(bytes); }));
}

std::uint64_t count_of(const Node& node, const std::string& channel, bool is_publisher,
                       const std::string& counter) {
  std::uint64_t sum = 0;
  for (const EndpointInfo& end : node.runtime().endpoints()) {
    if (end.channel == channel && end.node == node.name() && end.is_publisher == is_publisher) {
      sum += end.counter(counter);
    }
  }
  return sum;
}

}  // namespace hyphos::c
