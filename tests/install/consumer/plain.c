/* A program in C that needs nothing but the installed header and library. */
#include <hyphos_c.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  const hyphos_type bytes = {NULL, 0, HYPHOS_BYTES, 0};
  hyphos_node_options options = {sizeof options, NULL, NULL, "consumer", NULL, 0, 0, 1};
  hyphos_node* node = NULL;
  hyphos_publisher* publisher = NULL;
  hyphos_subscription* subscription = NULL;
  hyphos_message message;
  hyphos_error error;
  int same;

  if (hyphos_abi() != HYPHOS_ABI || hyphos_node_open("plain", &options, &node, &error) ||
      hyphos_subscribe(node, "c", &bytes, NULL, NULL, NULL, &subscription, &error) ||
      hyphos_publisher_open(node, "c", &bytes, NULL, &publisher, &error) ||
      hyphos_publish(publisher, "seed", 4, NULL, 0, NULL, &error) ||
      hyphos_take(subscription, -1, &message, &error)) {
    fprintf(stderr, "%s: %s\n", error.where, error.message);
    return 1;
  }
  same = message.payload.size == 4 && memcmp(message.payload.data, "seed", 4) == 0;
  hyphos_message_release(&message);
  hyphos_node_close(node);
  hyphos_subscription_close(subscription);
  hyphos_publisher_close(publisher);
  return same ? 0 : 1;
}
