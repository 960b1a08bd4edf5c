/* A C99 program that tests/python/gateway/gateway_worlds_test.py starts: `c_world DOMAIN TYPES`. It
 * publishes a latched text on `c_out`, returns each text of `c_in` on `c_back`, serves `c_switch`,
 * has the parameter `speed`, and publishes on `c_tank` a type that no other program has. TYPES is
 * the file with the definition of that type. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hyphos_c.h"

#define SECOND 1000000000LL

static const hyphos_type kString = {"hyphos.msgs.String", 0, HYPHOS_PROTOBUF, 0};
static const hyphos_type kRequest = {"ros1.std_srvs.srv.SetBoolRequest", 0, HYPHOS_PROTOBUF, 0};
static const hyphos_type kReply = {"ros1.std_srvs.srv.SetBoolResponse", 0, HYPHOS_PROTOBUF, 0};
static const hyphos_type kLevel = {"ros2.tank_msgs.msg.Level", 0, HYPHOS_PROTOBUF, 0};

static void check(hyphos_code code, const char* what, const hyphos_error* error) {
  if (code == HYPHOS_OK) return;
  fprintf(stderr, "c_world: %s: %s (%s) %s\n", what, error->message, error->where, error->advice);
  exit(1);
}

static hyphos_publisher* open_publisher(hyphos_node* node, const char* channel,
                                        const hyphos_type* type, int latched) {
  hyphos_policy policy;
  hyphos_publisher_options options;
  hyphos_publisher* publisher;
  hyphos_error error;
  memset(&policy, 0, sizeof policy);
  memset(&options, 0, sizeof options);
  policy.struct_size = sizeof policy;
  policy.latched = latched;
  options.struct_size = sizeof options;
  options.policy = &policy;
  check(hyphos_publisher_open(node, channel, type, &options, &publisher, &error), channel, &error);
  return publisher;
}

static void hand_back(void* user, const hyphos_message* message) {
  (void)hyphos_publish(user, message->payload.data, (size_t)message->payload.size, NULL, 0, NULL,
                       NULL);
}

/* Replies with the same flag, and the text "C". The flag is the field 1. */
static void answer(void* user, hyphos_request* request, const hyphos_message* message) {
  const unsigned char on[] = {0x08, 0x01, 0x12, 0x01, 'C'};
  const int is_on = message->payload.size == 2;
  (void)user;
  (void)hyphos_reply(request, is_on ? on : on + 2, is_on ? sizeof on : sizeof on - 2, NULL, 0,
                     NULL);
}

static void announce(hyphos_node* node, const char* path) {
  static char bytes[1 << 16];
  hyphos_error error;
  size_t size;
  FILE* const file = fopen(path, "rb");
  if (file == NULL) {
    perror(path);
    exit(1);
  }
  size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  check(hyphos_announce_types(node, bytes, size, &error), "announce", &error);
}

int main(int argc, char** argv) {
  const unsigned char text[] = {0x0a, 6, 'f', 'r', 'o', 'm', ' ', 'C'};
  const unsigned char level[] = {0x09, 0, 0, 0, 0, 0, 0, 0x29, 0x40}; /* 12.5 */
  hyphos_node_options options;
  hyphos_service_options polled;
  hyphos_subscription_options hear;
  hyphos_value speed;
  hyphos_node* node;
  hyphos_publisher* out;
  hyphos_publisher* back;
  hyphos_publisher* tank;
  hyphos_subscription* in;
  hyphos_service* service;
  hyphos_error error;
  if (argc != 3) return 2;
  memset(&options, 0, sizeof options);
  memset(&polled, 0, sizeof polled);
  memset(&hear, 0, sizeof hear);
  memset(&speed, 0, sizeof speed);
  options.struct_size = sizeof options;
  options.domain = argv[1];
  polled.struct_size = sizeof polled;
  hear.struct_size = sizeof hear;
  speed.type = HYPHOS_REAL;
  speed.real = 0.5;
  check(hyphos_node_open("c_world", &options, &node, &error), "open", &error);
  announce(node, argv[2]);
  check(hyphos_param_declare(node, "speed", &speed, NULL, &error), "speed", &error);
  out = open_publisher(node, "c_out", &kString, 1);
  back = open_publisher(node, "c_back", &kString, 0);
  tank = open_publisher(node, "c_tank", &kLevel, 0);
  check(hyphos_publish(out, text, sizeof text, NULL, 0, NULL, &error), "publish", &error);
  check(hyphos_subscribe(node, "c_in", &kString, &hear, hand_back, back, &in, &error), "subscribe",
        &error);
  check(hyphos_serve(node, "c_switch", &kRequest, &kReply, &polled, answer, NULL, &service, &error),
        "serve", &error);
  puts("ready");
  fflush(stdout);
  for (;;) {
    check(hyphos_poll(node, SECOND / 20, 0, NULL, &error), "poll", &error);
    (void)hyphos_publish(tank, level, sizeof level, NULL, 0, NULL, NULL);
  }
}
