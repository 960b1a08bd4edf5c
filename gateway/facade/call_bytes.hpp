#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "gateway/convert/converter.hpp"
#include "gateway/facade/graph_facade.hpp"
#include "hyphos/service.hpp"

/// Messages of calls between the forms of ROS and the blocks that the graph carries.
namespace hyphos::gateway {

/// Of a type whose messages are only passed on as bytes.
[[nodiscard]] TypeSupport raw_support(const TypeId& id);

/// `travels`: it will leave the process, so it is written where it leaves from. Errors: corrupt.
[[nodiscard]] Result<detail::BlockRef> block_of(detail::PublisherCore& core, bool travels,
                                                const Converter& converter, Form form,
                                                std::span<const std::byte> message,
                                                std::int64_t now_ns);
[[nodiscard]] Result<Buffer> message_of(const detail::Delivery& delivery,
                                        const Converter& converter, Form form);

/// What a client is told that the rules do not let.
[[nodiscard]] Error denied(const Client& client, std::string_view what, const std::string& name);

}  // namespace hyphos::gateway
