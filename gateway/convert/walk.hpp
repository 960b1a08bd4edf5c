#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "gateway/convert/conversion_error.hpp"
#include "gateway/convert/scan.hpp"
#include "gateway/convert/shape.hpp"
#include "hyphos/envelope.hpp"

namespace hyphos::gateway {

/// Visits the fields of a channel's message in the order of ROS and passes them to a sink. A
/// missing field is passed with the default of ROS: zero or an empty string.
///
/// A sink has these functions. Each returns false after an error was recorded:
///   open(shape), key(field), close(shape)      around a message and before each of its fields
///   number(field, bits)                        integers as 64 bits, floats as their own bits
///   text(field, string_view)
///   time(field, ns)
///   list(field, count), item(field), end_list(field)    around several values
///   packed(field, bytes)                       some elements of a list of floats, unchanged
///   blob(field, size), piece(field, bytes), end_blob(field)    an array of bytes
template <typename Sink>
class Walk {
 public:
  Walk(Sink& sink, ConversionError& failure, const BufferList& buffers)
      : sink_(sink), failure_(failure), scan_(failure), buffers_(buffers) {}

  bool message(const Shape& shape, Bytes bytes) {
    if (!scan_.push(shape, bytes)) return false;
    if (!sink_.open(shape)) return false;
    for (std::size_t i = 0; i < shape.fields.size(); ++i) {
      const Field& field = shape.fields[i];
      // A copy, because the stack may move when inner messages are pushed.
      const Found found = scan_.found(shape, i);
      if (!sink_.key(field) || !value(field, found)) return failure_.in(field.name);
    }
    scan_.pop(shape);
    return sink_.close(shape);
  }

 private:
  bool value(const Field& field, const Found& found) {
    if (field.attached) return attached(field);
    if (field.blob) return blob(field, found);
    if (field.count == Count::one) return one(field, found);
    if (field.kind == Kind::message || field.is_text()) return pieces(field, found);
    return numbers(field, found);
  }

  bool one(const Field& field, const Found& found) {
    if (field.kind == Kind::message) return message(*field.shape, scan_.whole(field, found));
    if (field.is_text()) return text(field, found.bytes);
    return number(field, found.number);
  }

  bool number(const Field& field, std::uint64_t raw) {
    const std::uint64_t number = unpacked(field, raw);
    if (field.is_time()) return sink_.time(field, static_cast<std::int64_t>(number));
    if (field.flag) return sink_.number(field, number != 0 ? 1 : 0);
    if (!in_range(field, number)) {
      return failure_.fail("is " +
                           (field.is_signed ? std::to_string(static_cast<std::int64_t>(number))
                                            : std::to_string(number)) +
                           ", which does not fit in " + std::to_string(8 * field.width) + " bits");
    }
    return sink_.number(field, number);
  }

  bool text(const Field& field, Bytes bytes) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!failure_.accept(text_problem(field, text.size()))) return false;
    return sink_.text(field, text);
  }

  /// An empty array of fixed size stands for an array of zeros.
  bool count_fits(const Field& field, std::size_t count) {
    return (field.count == Count::fixed && count == 0) ||
           failure_.accept(count_problem(field, count));
  }

  bool blob(const Field& field, const Found& found) {
    if (!count_fits(field, found.bytes.size())) return false;
    if (field.count == Count::fixed && found.bytes.empty()) {
      const std::string zeros(field.size, '\0');
      return sink_.blob(field, zeros.size()) &&
             sink_.piece(field, std::as_bytes(std::span(zeros))) && sink_.end_blob(field);
    }
    return sink_.blob(field, found.bytes.size()) && sink_.piece(field, found.bytes) &&
           sink_.end_blob(field);
  }

  bool attached(const Field& field) {
    std::size_t size = 0;
    for (const Buffer& buffer : buffers_) size += buffer.size();
    if (!count_fits(field, size) || !sink_.blob(field, size)) return false;
    for (const Buffer& buffer : buffers_) {
      if (!sink_.piece(field, buffer.bytes())) return false;
    }
    return sink_.end_blob(field);
  }

  /// Strings and messages. Each is one occurrence of the field.
  bool pieces(const Field& field, const Found& found) {
    if (!count_fits(field, found.times)) return false;
    const bool zeros = field.count == Count::fixed && found.times == 0;
    if (!sink_.list(field, zeros ? field.size : found.times)) return false;
    const auto piece = [&](Bytes bytes) {
      if (!sink_.item(field)) return false;
      return field.kind == Kind::message ? message(*field.shape, bytes) : text(field, bytes);
    };
    for (std::uint32_t i = 0; zeros && i < field.size; ++i) {
      if (!piece({})) return false;
    }
    return Scan::each(
               field, found,
               [&](std::uint32_t, const wire::ProtoValue& value) { return piece(value.bytes); }) &&
           sink_.end_list(field);
  }

  bool numbers(const Field& field, const Found& found) {
    std::size_t count = 0;
    if (!scan_.count_numbers(field, found, count) || !count_fits(field, count)) return false;
    const bool zeros = field.count == Count::fixed && count == 0;
    if (!sink_.list(field, zeros ? field.size : count)) return false;
    for (std::uint32_t i = 0; zeros && i < field.size; ++i) {
      if (!sink_.item(field) || !number(field, 0)) return false;
    }
    const bool good = field.is_float() ? floats(field, found)
                                       : scan_.each_number(field, found, [&](std::uint64_t raw) {
                                           return sink_.item(field) && number(field, raw);
                                         });
    return good && sink_.end_list(field);
  }

  /// Lists of floats have the same bytes in protobuf and in ROS.
  bool floats(const Field& field, const Found& found) {
    return Scan::each(field, found, [&](std::uint32_t type, const wire::ProtoValue& value) {
      if (type != wire::kBytes) return sink_.item(field) && sink_.number(field, value.number);
      if (value.bytes.size() % field.width != 0)
        return failure_.fail("is not a valid protobuf message");
      return sink_.packed(field, value.bytes);
    });
  }

  Sink& sink_;
  ConversionError& failure_;
  Scan scan_;
  const BufferList& buffers_;
};

}  // namespace hyphos::gateway
