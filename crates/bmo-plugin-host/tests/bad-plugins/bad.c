/*
 * Plugins that break the rules, one for each value of MODE. The host's tests compile this file once for each.
 * Requests are matched by plain substring search, which is enough for tests; see examples/out-of-tree/c for how a
 * plugin reads them properly.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bmo_provisioner.h"

#define NORMAL 0
#define NEVER_ANSWERS 1
#define ANSWERS_TWICE 2
#define ABORTS_IN_CONSTRUCTOR 3
#define WRONG_ABI 4
#define NO_PLUGIN_NAME 5
#define NO_ABI_VERSION 6
#define NO_FACTORY 7
#define NULL_NAME 8
#define REFUSES 9
#define NO_TABLE 10
#define SHORT_TABLE 11
#define NO_CALL 12
#define GARBAGE 13
#define ASKS_EARLY 14
#define MADE_UP_CONTEXT 15
#define NEVER_RETURNS 16
#define ANSWERS_LATE 17
#define OTHER_PROTOCOL 18
#define OTHER_NAME_IN_HAND_SHAKE 19
#define BAD_NAME 20
#define NEITHER 21
#define UNDEFINED_SYMBOL 22
#define HANGS_AT_LOAD 23

#ifndef MODE
#define MODE NORMAL
#endif
/* What methods without a behaviour of their own answer. */
#ifdef PROGRESS
#define OTHERS "{\"provisionerID\":\"1\",\"started\":true,\"progress\":\"complete\"}"
#else
#define OTHERS "null"
#endif
#ifndef NAME
#define NAME "bad"
#endif

static const bmo_host *the_host;

struct answer {
  bmo_done_fn done;
  void *done_ctx;
  uint64_t token;
};

static void send(struct answer a, const char *text) {
  bmo_bytes bytes = {(const uint8_t *)text, strlen(text)};
  a.done(a.done_ctx, a.token, bytes);
}

static void send_result(struct answer a, const char *result) {
  char text[1024];
  snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%llu,\"result\":%s}", (unsigned long long)a.token, result);
  send(a, text);
}

static int is(bmo_bytes request, const char *method) {
  char quoted[64];
  snprintf(quoted, sizeof quoted, "\"method\":\"%s\"", method);
  return memmem(request.ptr, request.len, quoted, strlen(quoted)) != NULL;
}

#if MODE == ANSWERS_LATE
static void *answer_late(void *argument) {
  struct answer a = *(struct answer *)argument;
  free(argument);
  usleep(400 * 1000);
  send_result(a, "{\"progress\":\"complete\"}");
  return NULL;
}
#endif

#if MODE == ASKS_EARLY
static void note_answer(void *ctx, uint64_t token, bmo_bytes response) {
  (void)ctx;
  (void)token;
  the_host->log(the_host->ctx, BMO_LOG_WARN, response);
}
#endif

/* `power on` is the method in which the plugin misbehaves. */
static void power_on(struct answer a) {
#if MODE == NEVER_ANSWERS
  (void)a;
#elif MODE == ANSWERS_TWICE
  int i;
  for (i = 0; i < 3; i++)
    send_result(a, "{\"progress\":\"complete\"}");
#elif MODE == GARBAGE
  send(a, "this is no JSON");
#elif MODE == NEITHER
  send(a, "{\"jsonrpc\":\"2.0\",\"id\":1}");
#elif MODE == MADE_UP_CONTEXT
  bmo_bytes nothing = {NULL, 0};
  a.done((void *)0xdeadbeef, a.token, nothing);
  the_host->notify((void *)0xdeadbeef, nothing);
  the_host->notify(the_host->ctx, nothing);
  a.done(a.done_ctx, 987654321u, nothing);
  send_result(a, "{\"progress\":\"complete\"}");
#elif MODE == NEVER_RETURNS
  (void)a;
  for (;;)
    pause();
#elif MODE == ANSWERS_LATE
  pthread_t thread;
  struct answer *copy = malloc(sizeof a);
  *copy = a;
  pthread_create(&thread, NULL, answer_late, copy);
  pthread_detach(thread);
#else
  send_result(a, "{\"progress\":\"complete\"}");
#endif
}

static void call(void *ctx, bmo_bytes request, bmo_done_fn done, void *done_ctx, uint64_t token) {
  struct answer a;
  a.done = done;
  a.done_ctx = done_ctx;
  a.token = token;
  (void)ctx;
  if (is(request, "initialize")) {
#if MODE == OTHER_PROTOCOL
    send_result(a, "{\"name\":\"" NAME "\",\"protocol\":{\"min\":7,\"max\":9}}");
#elif MODE == OTHER_NAME_IN_HAND_SHAKE
    send_result(a, "{\"name\":\"someone\",\"protocol\":{\"min\":1,\"max\":1}}");
#else
    send_result(a, "{\"name\":\"" NAME "\",\"version\":\"0.1\",\"protocol\":{\"min\":1,\"max\":1}}");
#endif
  } else if (is(request, "configure")) {
    send_result(a, "{}");
  } else if (is(request, "provisioner/powerOn")) {
    power_on(a);
  } else if (is(request, "provisioner/powerOff")) {
    send(a, "{\"jsonrpc\":\"2.0\",\"id\":0,\"error\":{\"code\":4,\"message\":\"busy cleaning\"}}");
  } else if (is(request, "provisioner/deprovision")) {
    send(a, "{\"jsonrpc\":\"2.0\",\"id\":0,\"error\":{\"code\":-32602,\"message\":\"what is that\"}}");
  } else if (is(request, "provisioner/new") || is(request, "provisioner/drop")) {
    send_result(a, "null");
  } else {
    send_result(a, OTHERS);
  }
}

#if MODE == ABORTS_IN_CONSTRUCTOR
__attribute__((constructor)) static void at_load(void) { abort(); }
#endif

#if MODE == UNDEFINED_SYMBOL
extern void a_function_nobody_has(void);
__attribute__((constructor)) static void at_load(void) { a_function_nobody_has(); }
#endif

#if MODE != NO_ABI_VERSION
uint32_t BmoPluginAbiVersion(void) {
#if MODE == WRONG_ABI
  return 999;
#else
  return BMO_ABI_VERSION;
#endif
}
#endif

#if MODE != NO_PLUGIN_NAME
const char *PluginName(void) {
#if MODE == NULL_NAME
  return NULL;
#elif MODE == BAD_NAME
  return "No Name!";
#else
  return NAME;
#endif
}
#endif

#if MODE != NO_FACTORY
int32_t NewProvisionerFactory(const bmo_host *host, const bmo_plugin **plugin) {
  static bmo_plugin table = {sizeof(bmo_plugin), BMO_ABI_MINOR, NULL, call, NULL, NULL};
  the_host = host;
#if MODE == HANGS_AT_LOAD
  for (;;)
    pause();
#elif MODE == REFUSES
  return 42;
#elif MODE == NO_TABLE
  return 0;
#elif MODE == SHORT_TABLE
  table.struct_size = 8;
#elif MODE == NO_CALL
  table.call = NULL;
#elif MODE == ASKS_EARLY
  {
    const char *text =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"kube/request\",\"params\":{\"method\":\"GET\",\"path\":\"/version\"}}";
    bmo_bytes request = {(const uint8_t *)text, strlen(text)};
    host->call(host->ctx, request, note_answer, NULL, 1);
  }
#endif
  *plugin = &table;
  return 0;
}
#endif
