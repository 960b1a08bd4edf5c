#include "bytes.hpp"

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace hyphos::python {
namespace {

// Below this size copying numpy or bytes objects is faster than releasing the GIL.
constexpr std::size_t kReleaseGilFrom = 16 * 1024;
// Chains of views are short. A longer chain is not one of a Hyphos buffer.
constexpr int kMaxViewDepth = 16;

std::byte empty_place;

int export_view(PyObject* self, Py_buffer* view, const void* data, std::size_t size, bool readonly,
                int flags) {
  void* at = size == 0 ? &empty_place : const_cast<void*>(data);
  return PyBuffer_FillInfo(view, self, at, static_cast<Py_ssize_t>(size), readonly ? 1 : 0, flags);
}

int get_buffer_view(PyObject* self, Py_buffer* view, int flags) {
  const auto* buffer = nb::inst_ptr<Buffer>(nb::handle(self));
  return export_view(self, view, buffer->data(), buffer->size(), true, flags);
}

int get_loaned_view(PyObject* self, Py_buffer* view, int flags) {
  const auto* loaned = nb::inst_ptr<Loaned>(nb::handle(self));
  return export_view(self, view, loaned->data(), loaned->size(), loaned->frozen(), flags);
}

PyType_Slot buffer_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer_view)},
                              {0, nullptr}};
PyType_Slot loaned_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(&get_loaned_view)},
                              {0, nullptr}};

/// True if a buffer-protocol format (PEP 3118) has references or pointers, which are meaningless in
/// another process. Field names are between colons.
bool has_pointers(std::string_view format) {
  bool in_name = false;
  for (std::size_t i = 0; i < format.size(); ++i) {
    const char c = format[i];
    if (c == ':') in_name = !in_name;
    if (in_name) continue;
    const bool is_complex = c == 'Z' && i + 1 < format.size() &&
                            std::string_view("fdg").find(format[i + 1]) != std::string_view::npos;
    if (std::string_view("OPX&zZ").find(c) != std::string_view::npos && !is_complex) return true;
  }
  return false;
}

class View {
 public:
  explicit View(PyObject* object) {
    if (PyObject_GetBuffer(object, &view_, PyBUF_FULL_RO) != 0) throw nb::python_error();
    if (view_.format != nullptr && has_pointers(view_.format)) {
      PyBuffer_Release(&view_);
      throw nb::type_error("this memory holds references or pointers, not values");
    }
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  ~View() { PyBuffer_Release(&view_); }

  [[nodiscard]] const std::byte* data() const { return static_cast<const std::byte*>(view_.buf); }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(view_.len); }
  [[nodiscard]] bool contiguous() const { return PyBuffer_IsContiguous(&view_, 'C') != 0; }
  void copy_to(std::byte* out) const {
    if (!contiguous()) {
      if (PyBuffer_ToContiguous(out, &view_, view_.len, 'C') != 0) throw nb::python_error();
    } else if (size() < kReleaseGilFrom) {
      std::memcpy(out, data(), size());
    } else {
      nb::gil_scoped_release release;
      std::memcpy(out, data(), size());
    }
  }

 private:
  mutable Py_buffer view_{};
};

// The Buffer or Loaned below a NumPy array or memoryview, or null if it has other memory.
nb::object find_root(nb::handle object) {
  nb::object at = nb::borrow(object);
  for (int depth = 0; depth < kMaxViewDepth; ++depth) {
    if (nb::isinstance<Buffer>(at) || nb::isinstance<Loaned>(at)) return at;
    if (PyBytes_Check(at.ptr()) || PyByteArray_Check(at.ptr())) break;
    at = nb::getattr(at, PyMemoryView_Check(at.ptr()) ? "obj" : "base", nb::none());
    if (at.is_none()) break;
  }
  return {};
}

std::optional<Buffer> without_copy(nb::handle object, const View& view) {
  if (!view.contiguous()) return std::nullopt;
  const nb::object root = find_root(object);
  if (!root.is_valid()) return std::nullopt;
  Buffer whole = nb::isinstance<Buffer>(root) ? *nb::inst_ptr<Buffer>(root)
                                              : nb::inst_ptr<Loaned>(root)->freeze();
  if (view.data() < whole.data() || view.data() + view.size() > whole.data() + whole.size()) {
    return std::nullopt;
  }
  return whole.slice(static_cast<std::size_t>(view.data() - whole.data()), view.size());
}

}  // namespace

Buffer to_buffer(nb::handle object, const Lend& lend) {
  if (nb::isinstance<Buffer>(object)) return *nb::inst_ptr<Buffer>(object);
  if (nb::isinstance<Loaned>(object)) return nb::inst_ptr<Loaned>(object)->freeze();
  const View view(object.ptr());
  if (auto same = without_copy(object, view)) return *std::move(same);
  WritableBuffer memory = lend(view.size());
  view.copy_to(memory.data());
  return std::move(memory).freeze();
}

void bind_bytes(nb::module_& module) {
  nb::class_<Buffer>(
      module, "Buffer", nb::type_slots(buffer_slots),
      "Immutable bytes that keep their memory (a shared-memory slot, a socket frame)\n"
      "alive. Supports the buffer protocol: numpy.frombuffer() and memoryview() do\n"
      "not copy, and keep the memory alive as long as the view.")
      .def(
          "__init__",
          [](Buffer* self, nb::handle data) {
            new (self) Buffer(to_buffer(data, &WritableBuffer::on_heap));
          },
          nb::arg("data"), "A copy of `data`. A Buffer or a view of one shares its memory instead.")
      .def("__len__", &Buffer::size)
      .def_prop_ro(
          "address", [](const Buffer& b) { return reinterpret_cast<std::uintptr_t>(b.data()); },
          "The address of the bytes in this process.")
      .def(
          "slice",
          [](const Buffer& b, std::size_t offset, std::size_t size) {
            if (offset > b.size() || size > b.size() - offset) {
              throw nb::index_error("slice: offset + size is after the end of the buffer");
            }
            return b.slice(offset, size);
          },
          nb::arg("offset"), nb::arg("size"), "A part of the same memory, without a copy.");

  nb::class_<Loaned>(module, "WritableBuffer", nb::type_slots(loaned_slots),
                     "Loaned memory, to be filled and published, or dropped. Not initialised.\n"
                     "Do not write to views of it after publishing.")
      .def("__len__", &Loaned::size)
      .def_prop_ro("address",
                   [](const Loaned& l) { return reinterpret_cast<std::uintptr_t>(l.data()); })
      .def_prop_ro("frozen", &Loaned::frozen)
      .def("freeze", &Loaned::freeze, "Ends the loan: the same memory, immutable.");
}

}  // namespace hyphos::python
