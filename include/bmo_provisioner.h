/*
 * The C ABI between the operator ("host") and a provisioner plugin, version 1.
 *
 * A plugin is a shared object <name>-provisioner.so that exports three symbols, and a fourth if it wants to:
 *
 *   BmoPluginAbiVersion    which version of this header it was built with
 *   PluginName             its own name; must be the <name> of its file
 *   NewProvisionerFactory  hands over the table through which everything else goes
 *   HostConfigure          optional: what the host must know before it starts
 *
 * Everything else is a JSON-RPC 2.0 document: docs/protocol/README.md. What holds for all of it:
 *
 *   - Bytes are borrowed: valid only while the function they are passed to runs. Copy what you keep.
 *   - No memory is freed by the other side. There is no free function.
 *   - Structures only grow at their end. `struct_size` is what the maker knew; read no member beyond it.
 *   - A call is answered by its `done`, exactly once, from any thread, during the call or after it.
 *     The host finds the call by its token: an answer that comes twice or too late is counted and dropped.
 *   - No exception, panic or longjmp may leave a function. A crash of the plugin ends the whole process.
 *   - Every function may be called from any thread, several at once.
 *
 * C99 and C++98 clean. Hand written; its layout is checked when the host, the SDK and this header are compiled.
 */
#ifndef BMO_PROVISIONER_H
#define BMO_PROVISIONER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this ABI. A plugin of another version is not loaded. */
#define BMO_ABI_VERSION 1u
/* Counts additions that older plugins and hosts need not know. */
#define BMO_ABI_MINOR 0u

/* Marks a symbol that the host looks up. Build the rest with -fvisibility=hidden. */
#if defined(__GNUC__)
#define BMO_EXPORT __attribute__((visibility("default")))
#else
#define BMO_EXPORT
#endif

/* Borrowed bytes, UTF-8 in every place of this header. `ptr` may be null where `len` is 0. */
typedef struct bmo_bytes {
  const uint8_t *ptr;
  size_t len;
} bmo_bytes;

/* Answers the call `token` with a JSON-RPC response document. `done_ctx` is what came with the call. */
typedef void (*bmo_done_fn)(void *done_ctx, uint64_t token, bmo_bytes response);

/* Levels of `log`. */
enum { BMO_LOG_ERROR = 1, BMO_LOG_WARN = 2, BMO_LOG_INFO = 3, BMO_LOG_DEBUG = 4, BMO_LOG_TRACE = 5 };

/* What the host offers the plugin. Valid until the process ends. */
typedef struct bmo_host {
  uint32_t struct_size;
  uint32_t abi_minor;
  /* First argument of every function below. */
  void *ctx;
  /* Writes a line to the operator's log. Never blocks. */
  void (*log)(void *ctx, int32_t level, bmo_bytes text);
  /* Asks the host something: a JSON-RPC request whose id is `token`, a number of the plugin's choice. Never
   * blocks; the answer comes through `done`, exactly once. */
  void (*call)(void *ctx, bmo_bytes request, bmo_done_fn done, void *done_ctx, uint64_t token);
  /* Tells the host something: a JSON-RPC notification. Never blocks. What is told during a call is taken
   * before the answer of that call. */
  void (*notify)(void *ctx, bmo_bytes notification);
} bmo_host;

/* What the plugin offers the host. Must stay valid until the process ends: plugins are never unloaded. */
typedef struct bmo_plugin {
  uint32_t struct_size;
  uint32_t abi_minor;
  /* First argument of every function below. */
  void *ctx;
  /* Does a JSON-RPC request whose id is `token`. May answer before it returns. May block, but holds one of a
   * bounded number of threads then. */
  void (*call)(void *ctx, bmo_bytes request, bmo_done_fn done, void *done_ctx, uint64_t token);
  /* The host waits for this call no longer: stop the work and answer it, with error -32800. A call that is
   * never answered stays on the host's count of abandoned calls. May be null. */
  void (*cancel)(void *ctx, uint64_t token);
  /* The process is about to end: return when nothing of the host's will be called any more. May be null. */
  void (*shutdown)(void *ctx);
} bmo_plugin;

/* ---- what a plugin exports ---- */

/* Returns BMO_ABI_VERSION. */
BMO_EXPORT uint32_t BmoPluginAbiVersion(void);

/* The plugin's name, NUL-terminated, valid until the process ends. Must equal the <name> of its file. */
BMO_EXPORT const char *PluginName(void);

/* Stores the plugin's table in *plugin and returns 0; anything else refuses to be loaded (say why with
 * host->log). Called when the plugin is loaded, and again if the same process loads it again. Touches nothing
 * but memory: the plugin's configuration comes later, with the message `configure`. */
BMO_EXPORT int32_t NewProvisionerFactory(const bmo_host *host, const bmo_plugin **plugin);

/* Optional. A JSON-RPC request `hostConfigure`, answered through `done` like any call: which resource types the
 * host must know and how it may scope its caches. Called before the host is connected to the cluster. */
BMO_EXPORT void HostConfigure(const bmo_host *host, bmo_bytes request, bmo_done_fn done, void *done_ctx,
                              uint64_t token);

/* ---- layout ---- */

#if defined(__cplusplus)
#if __cplusplus >= 201103L
#define BMO_ASSERT(cond, text) static_assert(cond, text)
#endif
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define BMO_ASSERT(cond, text) _Static_assert(cond, text)
#endif

#ifdef BMO_ASSERT
#define BMO_WORD sizeof(void *)
BMO_ASSERT(sizeof(bmo_bytes) == 2 * BMO_WORD, "bmo_bytes");
BMO_ASSERT(offsetof(bmo_bytes, len) == BMO_WORD, "bmo_bytes.len");
BMO_ASSERT(offsetof(bmo_host, abi_minor) == 4, "bmo_host.abi_minor");
BMO_ASSERT(offsetof(bmo_host, ctx) == 8, "bmo_host.ctx");
BMO_ASSERT(offsetof(bmo_host, log) == 8 + BMO_WORD, "bmo_host.log");
BMO_ASSERT(offsetof(bmo_host, call) == 8 + 2 * BMO_WORD, "bmo_host.call");
BMO_ASSERT(offsetof(bmo_host, notify) == 8 + 3 * BMO_WORD, "bmo_host.notify");
BMO_ASSERT(sizeof(bmo_host) == 8 + 4 * BMO_WORD, "bmo_host");
BMO_ASSERT(offsetof(bmo_plugin, abi_minor) == 4, "bmo_plugin.abi_minor");
BMO_ASSERT(offsetof(bmo_plugin, ctx) == 8, "bmo_plugin.ctx");
BMO_ASSERT(offsetof(bmo_plugin, call) == 8 + BMO_WORD, "bmo_plugin.call");
BMO_ASSERT(offsetof(bmo_plugin, cancel) == 8 + 2 * BMO_WORD, "bmo_plugin.cancel");
BMO_ASSERT(offsetof(bmo_plugin, shutdown) == 8 + 3 * BMO_WORD, "bmo_plugin.shutdown");
BMO_ASSERT(sizeof(bmo_plugin) == 8 + 4 * BMO_WORD, "bmo_plugin");
#undef BMO_WORD
#endif

#ifdef __cplusplus
}
#endif

#endif /* BMO_PROVISIONER_H */
