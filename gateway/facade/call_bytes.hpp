#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "gateway/convert/converter.hpp"
#include "gateway/convert/form.hpp"
#include "gateway/types/client.hpp"
#include "hyphos/service.hpp"

/// Converts messages of calls between the encodings of ROS and the blocks of the graph.
namespace hyphos::gateway {

/// Type support for messages that pass through as bytes only.
[[nodiscard]] TypeSupport raw_support(const TypeId& id);

/// `travels`: the message will leave the process, so it is written into memory of the transport.
/// Errors: corrupt.
[[nodiscard]] Result<detail::BlockRef> block_of(detail::PublisherCore& core, bool travels,
                                                const Converter& converter, Form form,
                                                std::span<const std::byte> message,
                                                std::int64_t now_ns);
[[nodiscard]] Result<Buffer> message_of(const detail::Delivery& delivery,
                                        const Converter& converter, Form form);

/// The error that a client gets if the rules forbid an operation.
[[nodiscard]] Error denied(const Client& client, std::string_view what, const std::string& name);

}  // namespace hyphos::gateway
