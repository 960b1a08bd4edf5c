/* A C99 program that the tests start: `c_action serve|send DOMAIN NAME [ros2]`. It serves an action
 * of the type actionlib/Test, or sends goals to one. With `ros2`, the types are those of ROS 2. A
 * goal above 100 gets feedback and waits to be canceled. A goal below 0 fails. Any other goal
 * succeeds with its double. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hyphos_c.h"

#define SECOND 1000000000LL
#define MOST 16

static const hyphos_action_types kTest = {
    {"ros1.actionlib.msg.TestGoal", 0, HYPHOS_PROTOBUF, 0},
    {"ros1.actionlib.msg.TestFeedback", 0, HYPHOS_PROTOBUF, 0},
    {"ros1.actionlib.msg.TestResult", 0, HYPHOS_PROTOBUF, 0}};
static const hyphos_action_types kTestOfRos2 = {
    {"ros2.actionlib.action.Test_Goal", 0, HYPHOS_PROTOBUF, 0},
    {"ros2.actionlib.action.Test_Feedback", 0, HYPHOS_PROTOBUF, 0},
    {"ros2.actionlib.action.Test_Result", 0, HYPHOS_PROTOBUF, 0}};

static void check(hyphos_code code, const char* what, const hyphos_error* error) {
  if (code == HYPHOS_OK) return;
  fprintf(stderr, "c_action: %s: %s (%s) %s\n", what, error->message, error->where, error->advice);
  exit(1);
}

/* A protobuf message whose only field is the int32 with number 1. Returns its size. */
static size_t put(int32_t value, unsigned char* to) {
  uint64_t left = (uint64_t)(int64_t)value;
  size_t size = 0;
  if (value == 0) return 0;
  to[size++] = 0x08;
  for (; left > 0x7f; left >>= 7) to[size++] = (unsigned char)(left | 0x80);
  to[size++] = (unsigned char)left;
  return size;
}

static int32_t get(const hyphos_message* message) {
  const unsigned char* const from = message->payload.data;
  uint64_t value = 0;
  uint64_t i;
  for (i = 1; i < message->payload.size; ++i) {
    value |= (uint64_t)(from[i] & 0x7f) << (7 * (i - 1));
  }
  return (int32_t)(uint32_t)value;
}

/* --- The server --------------------------------------------------------------------------- */

static hyphos_goal* waiting[MOST];
static int waiting_count = 0;

static void end(hyphos_goal* goal, hyphos_goal_state state, int32_t value) {
  unsigned char bytes[16];
  hyphos_error error;
  const size_t size = put(value, bytes);
  /* The client may be gone. */
  (void)hyphos_goal_finish(goal, state, bytes, size, NULL, 0, &error);
}

static void execute(void* user, hyphos_goal* goal, const hyphos_message* message) {
  const int32_t to = get(message);
  unsigned char bytes[16];
  (void)user;
  if (to < 0) {
    (void)hyphos_goal_fail(goal, HYPHOS_OUT_OF_RANGE, "only upwards", NULL);
  } else if (to <= 100 || waiting_count == MOST) {
    end(goal, HYPHOS_GOAL_SUCCEEDED, 2 * to);
  } else {
    (void)hyphos_goal_feedback(goal, bytes, put(to, bytes), NULL, 0, NULL);
    waiting[waiting_count++] = goal;
  }
}

static void serve(hyphos_node* node, const char* name, const hyphos_action_types* types) {
  hyphos_action_options options = {sizeof options, HYPHOS_POLLED, HYPHOS_GOALS_PARALLEL, 0, 0};
  hyphos_action* action;
  hyphos_error error;
  int i;
  check(hyphos_action_serve(node, name, types, &options, execute, NULL, &action, &error), "serve",
        &error);
  puts("ready");
  fflush(stdout);
  for (;;) {
    check(hyphos_poll(node, SECOND / 50, 0, NULL, &error), "poll", &error);
    for (i = 0; i < waiting_count;) {
      if (hyphos_goal_cancel_requested(waiting[i])) {
        end(waiting[i], HYPHOS_GOAL_CANCELED, -1);
        waiting[i] = waiting[--waiting_count];
      } else {
        ++i;
      }
    }
  }
}

/* --- The client --------------------------------------------------------------------------- */

typedef struct outcome {
  int32_t feedback;
  hyphos_goal_state state; /* HYPHOS_GOAL_SENT until the end */
  int32_t result;
} outcome;

static void hear(void* user, const hyphos_message* feedback) {
  ((outcome*)user)->feedback = get(feedback);
}

static void finish(void* user, hyphos_goal_state state, const hyphos_message* result,
                   const hyphos_error* error) {
  outcome* const one = user;
  (void)error;
  one->state = state;
  if (result != NULL) one->result = get(result);
}

static hyphos_sent_goal* send(hyphos_action_client* client, int32_t to, outcome* one) {
  hyphos_goal_callbacks callbacks = {sizeof callbacks, hear, finish, NULL};
  hyphos_sent_goal* goal;
  unsigned char bytes[16];
  hyphos_error error;
  memset(one, 0, sizeof *one);
  callbacks.user = one;
  check(hyphos_goal_send(client, bytes, put(to, bytes), NULL, 0, 60 * SECOND, &callbacks, &goal,
                         &error),
        "send", &error);
  return goal;
}

static const char* name_of(hyphos_goal_state state) {
  if (state == HYPHOS_GOAL_SUCCEEDED) return "succeeded";
  return state == HYPHOS_GOAL_CANCELED ? "canceled" : "aborted";
}

static void pump(hyphos_node* node) {
  hyphos_error error;
  check(hyphos_poll(node, 60 * SECOND, 0, NULL, &error), "poll", &error);
}

static void send_goals(hyphos_node* node, const char* name, const hyphos_action_types* types) {
  hyphos_action_client* client;
  hyphos_sent_goal* goals[3];
  outcome a;
  outcome b;
  outcome c;
  hyphos_error error;
  int i;
  check(hyphos_action_client_open(node, name, types, NULL, &client, &error), "client", &error);
  check(hyphos_action_client_wait(client, 60 * SECOND, &error), "wait", &error);
  goals[0] = send(client, 101, &a);
  while (a.feedback == 0) pump(node);
  goals[1] = send(client, 21, &b);
  while (b.state == HYPHOS_GOAL_SENT) pump(node);
  printf("b %s %d\n", name_of(b.state), (int)b.result);
  check(hyphos_sent_goal_cancel(goals[0], &error), "cancel", &error);
  while (a.state == HYPHOS_GOAL_SENT) pump(node);
  printf("a %d %s %d\n", (int)a.feedback, name_of(a.state), (int)a.result);
  goals[2] = send(client, -1, &c);
  while (c.state == HYPHOS_GOAL_SENT) pump(node);
  printf("c %s\n", name_of(c.state));
  fflush(stdout);
  for (i = 0; i < 3; ++i) hyphos_sent_goal_release(goals[i]);
  hyphos_action_client_close(client);
}

int main(int argc, char** argv) {
  hyphos_node_options options = {sizeof options, NULL, NULL, NULL, NULL, 0, 2, 0};
  hyphos_node* node;
  hyphos_error error;
  const hyphos_action_types* const types = argc == 5 ? &kTestOfRos2 : &kTest;
  if (argc < 4 || argc > 5) return 2;
  options.domain = argv[2];
  check(hyphos_node_open("c_action", &options, &node, &error), "open", &error);
  if (strcmp(argv[1], "serve") == 0) {
    serve(node, argv[3], types);
  } else {
    send_goals(node, argv[3], types);
  }
  hyphos_node_close(node);
  return 0;
}
