#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "gateway/convert/converter.hpp"
#include "gateway/convert/form.hpp"
#include "gateway/types/client.hpp"
#include "hyphos/service.hpp"

/// Converts messages of calls between the encodings of ROS and those of the graph.
namespace hyphos::gateway {

/// Converts `message` into memory of the call. Errors: corrupt.
[[nodiscard]] Result<RawMessage> raw_message_of(const CallMemory& memory,
                                                const Converter& converter, Form form,
                                                std::span<const std::byte> message,
                                                std::int64_t now_ns);
[[nodiscard]] Result<Buffer> message_of(const MessageRef& received, const Converter& converter,
                                        Form form);

/// The error that a client gets if the rules forbid an operation.
[[nodiscard]] Error denied(const Client& client, std::string_view what, const std::string& name);

}  // namespace hyphos::gateway
