// Only with sanitizers. EGL unloads the driver when its context ends. The leaks of the driver would
// then have no names, and no suppression could match them.
extern "C" int dlclose(void* library);
int dlclose(void* library) {
  (void)library;
  return 0;
}
