/* A C99 program that the tests start: `c_robot DOMAIN`. It publishes each message of `forth` on
 * `back`, with the bytes reversed. It serves the service `half`. A message on `end` ends it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hyphos_c.h"

static int ended = 0;

static void stop(const char* what, const hyphos_error* error) {
  fprintf(stderr, "c_robot: %s: %s (%s) %s\n", what, error->message, error->where, error->advice);
  exit(1);
}

static void hand_back(void* user, const hyphos_message* message) {
  hyphos_publisher* const back = user;
  const unsigned char* const from = message->payload.data;
  const size_t size = (size_t)message->payload.size;
  hyphos_error error;
  hyphos_loan loan;
  size_t i;
  if (hyphos_loan_bytes(back, size, &loan, &error) != HYPHOS_OK) stop("loan", &error);
  for (i = 0; i < size; ++i) ((unsigned char*)loan.data)[i] = from[size - 1 - i];
  if (hyphos_publish_loan(back, &loan, size, NULL, &error) != HYPHOS_OK) stop("publish", &error);
}

static void half(void* user, hyphos_request* request, const hyphos_message* message) {
  int64_t value;
  (void)user;
  if (message->payload.size != sizeof value) {
    hyphos_refuse(request, HYPHOS_CORRUPT, "the request must have 8 bytes", NULL);
    return;
  }
  memcpy(&value, message->payload.data, sizeof value);
  if (value % 2 != 0) {
    hyphos_refuse(request, HYPHOS_OUT_OF_RANGE, "the number is odd, send an even number", NULL);
    return;
  }
  value /= 2;
  hyphos_reply(request, &value, sizeof value, NULL, 0, NULL);
}

static void end(void* user, const hyphos_message* message) {
  (void)user;
  (void)message;
  ended = 1;
}

int main(int argc, char** argv) {
  const hyphos_type bytes = {NULL, 0, HYPHOS_BYTES, 0};
  const hyphos_type number = {"test.Number", sizeof(int64_t), HYPHOS_STRUCTURE, 0};
  hyphos_node_options options = {sizeof options, NULL, NULL, NULL, NULL, 0, 0, 0};
  hyphos_node* node = NULL;
  hyphos_publisher* back = NULL;
  hyphos_subscription *forth = NULL, *ends = NULL;
  hyphos_service* service = NULL;
  hyphos_error error;

  if (argc != 2) return 2;
  options.domain = argv[1];
  options.process = "robot";
  if (hyphos_node_open("robot", &options, &node, &error) != HYPHOS_OK) stop("open", &error);
  if (hyphos_publisher_open(node, "back", &bytes, NULL, &back, &error) != HYPHOS_OK)
    stop("publisher", &error);
  if (hyphos_subscribe(node, "forth", &bytes, NULL, hand_back, back, &forth, &error) != HYPHOS_OK)
    stop("forth", &error);
  if (hyphos_subscribe(node, "end", &bytes, NULL, end, NULL, &ends, &error) != HYPHOS_OK)
    stop("end", &error);
  if (hyphos_serve(node, "half", &number, &number, NULL, half, NULL, &service, &error) != HYPHOS_OK)
    stop("service", &error);
  if (hyphos_node_ready(node, &error) != HYPHOS_OK) stop("ready", &error);
  while (!ended) {
    if (hyphos_poll(node, -1, 0, NULL, &error) != HYPHOS_OK) stop("poll", &error);
  }
  hyphos_node_close(node);
  hyphos_service_close(service);
  hyphos_subscription_close(forth);
  hyphos_subscription_close(ends);
  hyphos_publisher_close(back);
  return 0;
}
