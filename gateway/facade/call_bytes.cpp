#include "gateway/facade/call_bytes.hpp"

#include <utility>

namespace hyphos::gateway {

Result<RawMessage> raw_message_of(const CallMemory& memory, const Converter& converter, Form form,
                                  std::span<const std::byte> message, std::int64_t now_ns) {
  return converter.read(
      form, message, [&memory](std::size_t size) { return memory.loan_bytes(size); }, now_ns);
}

Result<Buffer> message_of(const MessageRef& received, const Converter& converter, Form form) {
  const Envelope* const envelope = received.encoded();
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
