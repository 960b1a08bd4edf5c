// Only with sanitizers. EGL unloads the driver when its context ends. The leaks of the driver would
// then have no names, and no suppression could match them. EGL finds this function only if it is
// visible.
extern "C" [[gnu::visibility("default")]] int dlclose(void* library);
int dlclose(void* library) {
  (void)library;
  return 0;
}
