// Default sanitizer options of the test program.

/// Fast DDS 2.9 deletes a listener of its statistics through a base without a virtual destructor.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "new_delete_type_mismatch=0";
}
