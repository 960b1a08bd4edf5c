#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "hyphos/result.hpp"

/// BSON (bsonspec.org, version 1.1), as far as rosbridge uses it over TCP. Pure functions.
namespace hyphos::gateway::rosbridge {

/// The size of the document that begins with these bytes, at least 4 of them. nullopt: they begin
/// an HTTP request instead, because all of them are letters or blanks.
[[nodiscard]] std::optional<std::size_t> bson_size(std::span<const std::byte> bytes);

/// Converts a document to JSON: binary data becomes base64, and numbers that JSON lacks become
/// "NaN", "Infinity" and "-Infinity". Errors: corrupt (with the offset), exhausted (nested deeper
/// than 64, or longer than `limit`).
[[nodiscard]] Result<std::string> bson_to_json(std::span<const std::byte> bytes, std::size_t limit);

/// Converts an object of JSON to a document. Whole numbers get 32 bits if they fit. Errors:
/// corrupt.
[[nodiscard]] Result<std::string> json_to_bson(std::string_view json);
/// The same. The value of `member` at the top level is replaced by a value of CBOR, if there is
/// one.
[[nodiscard]] Result<std::string> json_to_bson(std::string_view json, std::string_view member,
                                               std::span<const std::byte> cbor);

/// The status that reports an error to a client.
[[nodiscard]] std::string bson_error(std::string_view text);

/// Converts a map of CBOR to a document: byte strings become binary data, and typed arrays become
/// arrays. Errors: corrupt.
[[nodiscard]] Result<std::string> cbor_to_bson(std::span<const std::byte> bytes);

}  // namespace hyphos::gateway::rosbridge
