/*
 * A provisioner plugin in C with the six methods every provisioner has, and no capability beyond them.
 *
 * It has no back end: every step is done when it is asked for. What a real plugin does in its place is start work, or
 * look at work it started before, and answer {"progress":"pending","afterMilliseconds":...} until it is done.
 *
 * The host sends a JSON-RPC request to `call`; each is answered through `done`, here before `call` returns. A plugin
 * that waits for something would hand the answer to a thread of its own instead. docs/protocol/README.md has the
 * rules, docs/protocol/v1/ the schema of each method.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bmo_provisioner.h"
#include "json.h"

#define NAME "cdemo"
#define MAX_NAME 254 /* of a Kubernetes object, with the NUL */

/* One provisioner: the host it acts on, until the pass is over. */
struct pass {
  uint64_t handle;
  char host[MAX_NAME];
  int registered; /* the operator knows our id of this host */
  struct pass *next;
};

static const bmo_host *host_table;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pass *passes;

/* ---- answering ---- */

struct answer {
  bmo_done_fn done;
  void *ctx;
  uint64_t token;
};

static void answer_text(struct answer a, const char *member, const char *json_text) {
  char text[1024];
  bmo_bytes bytes;
  int len = snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%" PRIu64 ",\"%s\":%s}", a.token, member, json_text);
  if (len < 0 || (size_t)len >= sizeof text)
    abort(); /* all our texts are short */
  bytes.ptr = (const uint8_t *)text;
  bytes.len = (size_t)len;
  a.done(a.ctx, a.token, bytes);
}

static void answer(struct answer a, const char *result) { answer_text(a, "result", result); }

static void answer_error(struct answer a, int code, const char *message) {
  char quoted[512], error[640];
  if (!json_quote(message, quoted, sizeof quoted))
    strcpy(quoted, "\"error\"");
  snprintf(error, sizeof error, "{\"code\":%d,\"message\":%s}", code, quoted);
  answer_text(a, "error", error);
}

static void log_line(int32_t level, const char *text) {
  bmo_bytes bytes;
  bytes.ptr = (const uint8_t *)text;
  bytes.len = strlen(text);
  host_table->log(host_table->ctx, level, bytes);
}

/* ---- provisioners ---- */

/* Takes the pass out of the list; returns it or NULL. Call with the lock held. */
static struct pass *take(uint64_t handle) {
  struct pass **at;
  for (at = &passes; *at != NULL; at = &(*at)->next) {
    if ((*at)->handle == handle) {
      struct pass *found = *at;
      *at = found->next;
      return found;
    }
  }
  return NULL;
}

static void new_provisioner(json params, uint64_t handle, struct answer a) {
  struct pass *pass = calloc(1, sizeof *pass);
  json host = json_member(params, "host");
  if (pass == NULL || !json_string(json_member(host, "name"), pass->host, sizeof pass->host)) {
    free(pass);
    answer_error(a, -32602, "the host has no name this plugin can read");
    return;
  }
  pass->handle = handle;
  pass->registered = json_member(host, "provisionerID").len > 0;
  pthread_mutex_lock(&lock);
  pass->next = passes;
  passes = pass;
  pthread_mutex_unlock(&lock);
  answer(a, "null");
}

static void drop_provisioner(uint64_t handle, struct answer a) {
  pthread_mutex_lock(&lock);
  free(take(handle));
  pthread_mutex_unlock(&lock);
  answer(a, "null");
}

/* Our id of a host is its name. It must be stored by the operator before anything else happens to the host: told
 * once, the step is pending until the operator comes back with it. */
static void register_host(const struct pass *pass, struct answer a) {
  char name[2 * MAX_NAME + 8], result[2 * MAX_NAME + 96];
  if (pass->registered) {
    answer(a, "{\"progress\":\"complete\"}");
    return;
  }
  if (!json_quote(pass->host, name, sizeof name)) {
    answer_error(a, 6, "the host's name is too long");
    return;
  }
  snprintf(result, sizeof result, "{\"provisionerID\":%s,\"progress\":\"pending\",\"afterMilliseconds\":0}", name);
  log_line(BMO_LOG_INFO, "registered a host");
  answer(a, result);
}

static void on_provisioner(const char *method, uint64_t handle, struct answer a) {
  static const char *const done_at_once[] = {"provision", "deprovision", "delete", "powerOn", "powerOff"};
  struct pass copy, *pass;
  size_t i;
  pthread_mutex_lock(&lock);
  pass = take(handle);
  if (pass != NULL) {
    copy = *pass;
    pass->next = passes;
    passes = pass;
  }
  pthread_mutex_unlock(&lock);
  if (pass == NULL) {
    answer_error(a, -32602, "there is no such provisioner");
    return;
  }
  if (strcmp(method, "register") == 0) {
    register_host(&copy, a);
    return;
  }
  for (i = 0; i < sizeof done_at_once / sizeof *done_at_once; i++) {
    if (strcmp(method, done_at_once[i]) == 0) {
      answer(a, "{\"progress\":\"complete\"}");
      return;
    }
  }
  answer_error(a, -32601, "this plugin has only the six methods every provisioner has");
}

/* ---- the table ---- */

static void call(void *ctx, bmo_bytes bytes, bmo_done_fn done, void *done_ctx, uint64_t token) {
  static const char prefix[] = "provisioner/";
  struct answer a;
  json request, params;
  char method[64];
  uint64_t handle = 0;
  (void)ctx;
  a.done = done;
  a.ctx = done_ctx;
  a.token = token;
  request.text = (const char *)bytes.ptr;
  request.len = bytes.len;
  params = json_member(request, "params");
  if (!json_string(json_member(request, "method"), method, sizeof method)) {
    answer_error(a, -32600, "the request has no method");
  } else if (strcmp(method, "initialize") == 0) {
    answer(a, "{\"name\":\"" NAME "\",\"version\":\"1.0.0\",\"protocol\":{\"min\":1,\"max\":1},"
              "\"build\":{\"compiler\":\"C\"},\"capabilities\":[]}");
  } else if (strcmp(method, "configure") == 0) {
    answer(a, "{}");
  } else if (strncmp(method, prefix, sizeof prefix - 1) != 0 ||
             !json_number(json_member(params, "provisioner"), &handle)) {
    answer_error(a, -32601, "this plugin does not know the method");
  } else if (strcmp(method, "provisioner/new") == 0) {
    new_provisioner(params, handle, a);
  } else if (strcmp(method, "provisioner/drop") == 0) {
    drop_provisioner(handle, a);
  } else {
    on_provisioner(method + sizeof prefix - 1, handle, a);
  }
}

/* Nothing here takes time, so there is nothing to cancel and nothing to wait for at the end: both may be null. */
static const bmo_plugin table = {sizeof(bmo_plugin), BMO_ABI_MINOR, NULL, call, NULL, NULL};

uint32_t BmoPluginAbiVersion(void) { return BMO_ABI_VERSION; }

const char *PluginName(void) { return NAME; }

int32_t NewProvisionerFactory(const bmo_host *host, const bmo_plugin **plugin) {
  if (host->struct_size < sizeof(bmo_host))
    return 1; /* an older host than this header */
  host_table = host;
  *plugin = &table;
  return 0;
}
