#include "gateway/facade/call_bytes.hpp"

#include <utility>

namespace hyphos::gateway {

namespace {

Lend lend_of(detail::PublisherCore& core, bool travels) {
  return [&core, travels](std::size_t size) {
    WritableBuffer memory = travels ? core.loan(size) : WritableBuffer();
    return memory.empty() ? WritableBuffer::on_heap(size) : std::move(memory);
  };
}

}  // namespace

TypeSupport raw_support(const TypeId& id) {
  TypeSupport support;
  support.id = id;
  return support;
}

Result<detail::BlockRef> block_of(detail::PublisherCore& core, bool travels,
                                  const Converter& converter, Form form,
                                  std::span<const std::byte> message, std::int64_t now_ns) {
  auto made = converter.read(form, message, lend_of(core, travels), now_ns);
  if (!made) return made.error();
  detail::BlockRef block = core.block();
  block->set_encoded(made->payload, made->buffers);
  return block;
}

Result<Buffer> message_of(const detail::Delivery& delivery, const Converter& converter, Form form) {
  const Envelope* const envelope = delivery.block->encoded();
  if (envelope == nullptr) return Error{Code::corrupt, "the message has no encoded bytes", {}};
  const auto written = converter.write(form, RawMessage{envelope->payload, envelope->buffers});
  if (!written) return written.error();
  return written->joined();
}

Error denied(const Client& client, std::string_view what, const std::string& name) {
  return {Code::permission,
          "the rules of the gateway do not allow " + client.name + " to " + std::string(what) +
              " '" + name + "'",
          name};
}

}  // namespace hyphos::gateway
