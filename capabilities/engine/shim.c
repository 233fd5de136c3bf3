// The JavaScript engine of level3's capabilities: quickjs-ng behind the canonical ABI, as one core module without WASI.
//
// A capability's component holds no code. It instantiates this module, gives it the host functions it was granted, and
// writes its source into `source_slot` by an active data segment. `run` then does the rest. Every call has an instance
// of its own, so nothing here is ever freed at the end of a call.
//
// To add a power: an IMPORT and a bit here, a function in `host_functions`, its face in prelude.js, a file in src/sandbox/host,
// and an entry in the table of src/sandbox/powers.rs.

#include "quickjs/quickjs.c"

#define EXPORT(name) __attribute__((export_name(name), used))
#define IMPORT(interface, name) \
    __attribute__((import_module("level3:capability/" interface "@0.1.0"), import_name(name)))

// ---- the host, one interface per power (capabilities/wit)

IMPORT("log", "log") void host_log(uint32_t level, const char *text, uint32_t length);
IMPORT("clock", "now") uint64_t host_now(void);
IMPORT("clock", "sleep") void host_sleep(uint64_t milliseconds);
IMPORT("random", "random") uint64_t host_random(void);
// What takes time is started, and goes on by itself: the number it has is told by `wait` when it is finished.
IMPORT("http", "start") uint32_t host_http(const char *request, uint32_t length);
IMPORT("sql", "start") uint32_t host_sql(const char *request, uint32_t length);
IMPORT("kv", "start") uint32_t host_kv(const char *request, uint32_t length);
IMPORT("tools", "start") uint32_t host_tools(const char *request, uint32_t length);

typedef struct { uint8_t is_some; uint32_t id; uint8_t ok; char *text; uint32_t length; } Completion; // option<completion>
IMPORT("operations", "wait") void host_wait(uint64_t milliseconds, Completion *completion);

typedef struct { uint8_t is_error; char *text; uint32_t length; } Reference; // result<string, string>
IMPORT("secrets", "reference") void host_secret(const char *name, uint32_t length, Reference *reference);

// Bits of `source_slot.denied`, in the order of `Power` in src/domain/grants.rs. The import of a power that was not
// granted is bound to a function that traps; the bit is what lets JavaScript hear a sentence instead. Those of the powers
// that reach outside are read by prelude.js, which knows what the capability wanted.
enum { LOG = 1, CLOCK = 2, RANDOM = 4 };

// ---- what the component writes before the first call

enum { RUN = 1, INSPECT = 2 };
#define SOURCE_MAX (256 * 1024)

struct {
    uint8_t kind;         // RUN, or INSPECT: then the source comes with the parameters
    uint8_t denied;         // of the first eight powers
    uint8_t denied_further; // of the next eight, 0 in components from before there were sixteen bits; read it with the ninth power
    uint8_t reserved;
    uint32_t length;
    char source[SOURCE_MAX + 1]; // never written to its last byte: quickjs wants a NUL behind the source
} source_slot = { 0 };

// ---- state

#define STACK_SIZE (1024 * 1024) // also given to the linker
#define STACK_SPARE (64 * 1024)  // what C below quickjs' own check may need

typedef struct { uint32_t is_error, text, length; } Answer; // result<string, string>

static JSRuntime *runtime;
static JSContext *context;
static JSValue next;        // prelude: waits for the next timer or operation and deals with it; false when there is none
static JSValue refuse;      // prelude: takes away what quickjs itself gives without the power
static JSValue show;        // prelude: any value as text, as console.log shows it
static const char *phase;   // what INSPECT was doing when it failed
static Answer answer;

#include "prelude.h" // static const char prelude_source[]; static const unsigned prelude_length;

extern void __wasm_call_ctors(void);

// ---- no WASI: libc's few calls end here, so that the module imports nothing but the host above

int __imported_wasi_snapshot_preview1_clock_time_get(int id, long long precision, int out) {
    *(uint64_t *)out = source_slot.denied & CLOCK ? 0 : host_now();
    return 0;
}
int __imported_wasi_snapshot_preview1_fd_close(int fd) { return 8; }
int __imported_wasi_snapshot_preview1_fd_fdstat_get(int fd, int out) { return 8; }
int __imported_wasi_snapshot_preview1_fd_seek(int fd, long long offset, int whence, int out) { return 8; }
int __imported_wasi_snapshot_preview1_fd_write(int fd, int vectors, int count, int out) {
    uint32_t total = 0, *vector = (uint32_t *)vectors;
    for (int i = 0; i < count; i++) total += vector[2 * i + 1];
    *(uint32_t *)out = total; // swallowed
    return 0;
}

// ---- canonical ABI

EXPORT("cabi_realloc") void *cabi_realloc(void *old, size_t old_size, size_t align, size_t size) {
    if (size == 0) return (void *)align;
    void *memory = realloc(old, size);
    if (!memory) __builtin_trap();
    return memory;
}

// The text of a value for the host, which takes UTF-8 only. JavaScript cuts texts within characters; half a character
// becomes U+FFFD, which has as many bytes.
static const char *utf8(JSContext *c, size_t *length, JSValueConst value) {
    const char *text = JS_ToCStringLen(c, length, value);
    if (!text) return NULL;
    for (char *at = (char *)text, *end = at + *length; (at = memchr(at, 0xed, end - at)); at++)
        if ((uint8_t)at[1] >= 0xa0) memcpy(at, "\xef\xbf\xbd", 3);
    return text;
}

// Answers with a JavaScript string, which is taken over.
static Answer *answer_with(bool is_error, JSValue string) {
    static const char out_of_memory[] = "{\"name\":\"InternalError\",\"message\":\"out of memory\"}";
    size_t length;
    const char *text = utf8(context, &length, string);
    if (!text) {
        is_error = true;
        text = out_of_memory;
        length = sizeof(out_of_memory) - 1;
    }
    answer = (Answer){ is_error, (uint32_t)text, length };
    return &answer;
}

// ---- functions for the prelude

#define GRANTED(bit, name) \
    if (source_slot.denied & (bit)) return JS_ThrowTypeError(c, "this capability was not granted `" name "`");

static JSValue js_log(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
    GRANTED(LOG, "log")
    uint32_t level;
    size_t length;
    if (JS_ToUint32(c, &level, argv[0])) return JS_EXCEPTION;
    const char *text = utf8(c, &length, argv[1]);
    if (!text) return JS_EXCEPTION;
    host_log(level, text, length);
    JS_FreeCString(c, text);
    return JS_UNDEFINED;
}

static JSValue js_now(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
    GRANTED(CLOCK, "clock")
    return JS_NewFloat64(c, (double)host_now() / 1e6);
}

static JSValue js_sleep(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
    GRANTED(CLOCK, "clock")
    int64_t milliseconds;
    if (JS_ToInt64(c, &milliseconds, argv[0])) return JS_EXCEPTION;
    host_sleep(milliseconds < 0 ? 0 : milliseconds);
    return JS_UNDEFINED;
}

static JSValue js_random(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
    GRANTED(RANDOM, "random")
    size_t length;
    uint8_t *bytes = JS_GetUint8Array(c, &length, argv[0]);
    if (!bytes) return JS_EXCEPTION;
    for (size_t i = 0; i < length; i += 8) {
        uint64_t random = host_random();
        memcpy(bytes + i, &random, length - i < 8 ? length - i : 8);
    }
    return JS_DupValue(c, argv[0]);
}

static JSValue js_utf8_encode(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
    size_t length;
    const char *text = utf8(c, &length, argv[0]);
    if (!text) return JS_EXCEPTION;
    JSValue bytes = JS_NewUint8ArrayCopy(c, (const uint8_t *)text, length);
    JS_FreeCString(c, text);
    return bytes;
}

static JSValue js_utf8_decode(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
    size_t length;
    uint8_t *bytes = JS_GetUint8Array(c, &length, argv[0]);
    if (!bytes) return JS_EXCEPTION;
    return JS_NewStringLen(c, (char *)bytes, length);
}

// ---- what reaches outside: the prelude asks `denied` first

static JSValue js_denied(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
    return JS_NewUint32(c, source_slot.denied);
}

enum { HTTP, SQL, KV, TOOLS };
static uint32_t (*const starts[])(const char *, uint32_t) = { host_http, host_sql, host_kv, host_tools };

static JSValue js_start(JSContext *c, JSValueConst this, int argc, JSValueConst *argv, int power) {
    size_t length;
    const char *request = utf8(c, &length, argv[0]);
    if (!request) return JS_EXCEPTION;
    uint32_t id = starts[power](request, length);
    JS_FreeCString(c, request);
    return JS_NewUint32(c, id);
}

// Waits so many milliseconds, without end when negative. Gives [id, ok, value], or undefined when the time is over.
static JSValue js_wait(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
    int64_t milliseconds;
    if (JS_ToInt64(c, &milliseconds, argv[0])) return JS_EXCEPTION;
    Completion completion;
    host_wait(milliseconds < 0 ? UINT64_MAX : milliseconds, &completion);
    if (!completion.is_some) return JS_UNDEFINED;
    JSValue value = JS_NewStringLen(c, completion.text, completion.length);
    if (completion.length) free(completion.text);
    if (JS_IsException(value)) return value;
    JSValue ended[] = { JS_NewUint32(c, completion.id), JS_NewBool(c, completion.ok), value };
    return JS_NewArrayFrom(c, countof(ended), ended);
}

static JSValue js_secret(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
    size_t length;
    const char *name = utf8(c, &length, argv[0]);
    if (!name) return JS_EXCEPTION;
    Reference reference;
    host_secret(name, length, &reference);
    JS_FreeCString(c, name);
    JSValue text = JS_NewStringLen(c, reference.text, reference.length);
    if (reference.length) free(reference.text);
    if (!reference.is_error || JS_IsException(text)) return text;
    JSValue error = JS_NewError(c);
    if (JS_IsException(error)) return error;
    JS_DefinePropertyValueStr(c, error, "message", text, JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
    return JS_Throw(c, error);
}

static const JSCFunctionListEntry host_functions[] = {
    JS_CFUNC_DEF("log", 2, js_log),
    JS_CFUNC_DEF("now", 0, js_now),
    JS_CFUNC_DEF("sleep", 1, js_sleep),
    JS_CFUNC_DEF("random", 1, js_random),
    JS_CFUNC_DEF("utf8Encode", 1, js_utf8_encode),
    JS_CFUNC_DEF("utf8Decode", 1, js_utf8_decode),
    JS_CFUNC_DEF("denied", 0, js_denied),
    JS_CFUNC_MAGIC_DEF("http", 1, js_start, HTTP),
    JS_CFUNC_MAGIC_DEF("sql", 1, js_start, SQL),
    JS_CFUNC_MAGIC_DEF("kv", 1, js_start, KV),
    JS_CFUNC_MAGIC_DEF("tools", 1, js_start, TOOLS),
    JS_CFUNC_DEF("wait", 1, js_wait),
    JS_CFUNC_DEF("secret", 1, js_secret),
};

// ---- promises that were rejected and that nobody looked at: an operation not awaited, for the most part

#define UNHANDLED_MAX 8
static struct { JSValue promise, reason; } unhandled[UNHANDLED_MAX];
static int unhandled_count;

static void note_rejection(JSContext *c, JSValueConst promise, JSValueConst reason, bool is_handled, void *opaque) {
    if (!is_handled) {
        if (unhandled_count == UNHANDLED_MAX) return;
        unhandled[unhandled_count].promise = JS_DupValue(c, promise);
        unhandled[unhandled_count++].reason = JS_DupValue(c, reason);
        return;
    }
    for (int i = 0; i < unhandled_count; i++)
        if (JS_VALUE_GET_PTR(unhandled[i].promise) == JS_VALUE_GET_PTR(promise)) unhandled[i--] = unhandled[--unhandled_count];
}

static void log_rejections(void) {
    static const char begin[] = "a promise was rejected and nothing handled it: ";
    if (source_slot.denied & LOG) return;
    for (int i = 0; i < unhandled_count; i++) {
        size_t length;
        const char *reason = utf8(context, &length, unhandled[i].reason);
        char *text = reason ? malloc(sizeof(begin) + length) : NULL;
        if (!reason) JS_FreeValue(context, JS_GetException(context));
        if (!text) continue;
        memcpy(text, begin, sizeof(begin) - 1);
        memcpy(text + sizeof(begin) - 1, reason, length);
        host_log(2, text, sizeof(begin) - 1 + length);
        free(text);
    }
}

// ---- start

static JSModuleDef *no_modules(JSContext *c, const char *name, void *opaque) {
    JS_ThrowReferenceError(c, "cannot import '%s': a capability is one ES module without imports", name);
    return NULL;
}

// The parser gives its place only to an error without a stack, and the compiler of regular expressions does not say what
// its messages are about.
static JSValue compile_regexp(JSContext *c, JSValueConst pattern, JSValueConst flags) {
    JSValue compiled = js_compile_regexp(c, pattern, flags);
    if (!JS_IsException(compiled)) return compiled;
    JSValue error = JS_GetException(c);
    const char *why = JS_ToCString(c, JS_GetPropertyStr(c, error, "message"));
    const char *body = JS_ToCString(c, pattern), *letters = JS_ToCString(c, flags);
    if (!why || !body || !letters || !strcmp(why, "out of memory")) return JS_Throw(c, error);
    char text[256];
    snprintf(text, sizeof(text), "the regular expression /%.80s/%.16s cannot be read: %s", body, letters, why);
    return JS_Throw(c, JS_MakeError2(c, JS_SYNTAX_ERROR, false, text));
}

// quickjs-ng switches its stack check off for WASI. With --stack-first the C stack is [0, STACK_SIZE).
static void limit_stack(void) {
    JS_UpdateStackTop(runtime);
    runtime->stack_limit = STACK_SPARE;
}

static JSValue must(JSValue value) {
    if (JS_IsException(value)) __builtin_trap();
    return value;
}

// Runs once, when the artifact is made: its memory is snapshotted afterwards.
EXPORT("wizer-initialize") void initialize(void) {
    __wasm_call_ctors();
    runtime = JS_NewRuntime();
    if (!runtime) __builtin_trap();
    limit_stack();
    JS_SetGCThreshold(runtime, 8 << 20);
    context = JS_NewContext(runtime);
    if (!context) __builtin_trap();
    JS_AddIntrinsicDOMException(context);
    context->compile_regexp = compile_regexp;
    JS_SetModuleLoaderFunc(runtime, NULL, no_modules, NULL);
    JS_SetHostPromiseRejectionTracker(runtime, note_rejection, NULL);
    JSValue host = JS_NewObject(context);
    JS_SetPropertyFunctionList(context, host, host_functions, countof(host_functions));
    JSValue prelude = must(JS_Eval(context, prelude_source, prelude_length, "<prelude>", JS_EVAL_TYPE_GLOBAL));
    JSValue hooks = must(JS_Call(context, prelude, JS_UNDEFINED, 1, &host));
    next = must(JS_GetPropertyStr(context, hooks, "next"));
    refuse = must(JS_GetPropertyStr(context, hooks, "refuse"));
    show = must(JS_GetPropertyStr(context, hooks, "show"));
}

// What the snapshot froze is made fresh before each call.
static int begin(void) {
    limit_stack();
    context->time_origin = js__now_ms();
    context->random_state = source_slot.denied & RANDOM ? 1 : host_random();
    if (!context->random_state) context->random_state = 1; // the generator's one fixed point
    if (!(source_slot.denied & (CLOCK | RANDOM))) return 0;
    JSValue bits = JS_NewUint32(context, source_slot.denied);
    JSValue done = JS_Call(context, refuse, JS_UNDEFINED, 1, &bits);
    return JS_IsException(done) ? -1 : 0;
}

// ---- one call

// Answers with the pending exception as JSON. `line` and `column` are only in its stack; the host reads them there.
static Answer *answer_exception(void) {
    static const char *const keys[] = { "name", "message", "stack" };
    JSValue error = JS_GetException(context), object = JS_NewObject(context);
    if (JS_IsError(error) || JS_GetOpaque(error, JS_CLASS_DOM_EXCEPTION)) {
        for (int i = 0; i < countof(keys); i++) {
            JSValue value = JS_GetPropertyStr(context, error, keys[i]);
            if (JS_IsException(value)) JS_FreeValue(context, JS_GetException(context));
            else if (!JS_IsUndefined(value)) JS_DefinePropertyValueStr(context, object, keys[i], value, JS_PROP_C_W_E);
        }
    } else { // anything can be thrown
        JSValue value = JS_Call(context, show, JS_UNDEFINED, 1, &error);
        if (JS_IsException(value)) JS_FreeValue(context, JS_GetException(context));
        else JS_DefinePropertyValueStr(context, object, "message", value, JS_PROP_C_W_E);
    }
    if (phase) JS_DefinePropertyValueStr(context, object, "phase", JS_NewString(context, phase), JS_PROP_C_W_E);
    JSValue json = JS_JSONStringify(context, object, JS_UNDEFINED, JS_UNDEFINED);
    if (JS_IsException(json)) {
        JS_FreeValue(context, JS_GetException(context));
        json = JS_NewString(context, "{\"name\":\"InternalError\",\"message\":\"the error could not be reported\"}");
    }
    return answer_with(true, json);
}

// Runs microtasks, timers and ends of operations until the promise is settled. Gives its value, or an exception.
static JSValue settle(JSValue promise) {
    for (;;) {
        JSContext *c;
        int more;
        while ((more = JS_ExecutePendingJob(runtime, &c)) > 0) ;
        if (more < 0) return JS_EXCEPTION;
        switch (JS_PromiseState(context, promise)) {
        case JS_PROMISE_FULFILLED: return JS_PromiseResult(context, promise);
        case JS_PROMISE_REJECTED: return JS_Throw(context, JS_PromiseResult(context, promise));
        case JS_PROMISE_PENDING: break;
        default: return promise; // not a promise at all
        }
        JSValue ran = JS_Call(context, next, JS_UNDEFINED, 0, NULL);
        if (JS_IsException(ran)) return ran;
        if (!JS_ToBool(context, ran))
            return JS_ThrowTypeError(context, "the promise can never settle: no timer is running and nothing else is pending");
    }
}

// Compiles and evaluates an ES module. `source` ends with a NUL. Gives its namespace, or an exception.
static JSValue load(const char *source, size_t length) {
    phase = phase ? "syntax" : NULL;
    JSValue module =
        JS_Eval(context, source, length, "capability.js", JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY);
    if (JS_IsException(module)) return module;
    phase = phase ? "load" : NULL;
    JSModuleDef *definition = JS_VALUE_GET_PTR(module);
    JSValue evaluated = JS_EvalFunction(context, module);
    if (JS_IsException(evaluated)) return evaluated;
    evaluated = settle(evaluated);
    if (JS_IsException(evaluated)) return evaluated;
    return JS_GetModuleNamespace(context, definition);
}

static JSValue call(JSValue params) {
    JSValue namespace = load(source_slot.source, source_slot.length);
    if (JS_IsException(namespace)) return namespace;
    JSValue function = JS_GetPropertyStr(context, namespace, "default");
    if (JS_IsException(function)) return function;
    if (!JS_IsFunction(context, function)) return JS_ThrowTypeError(context, "the module must `export default` a function");
    JSValue result = JS_Call(context, function, JS_UNDEFINED, 1, &params);
    return JS_IsException(result) ? result : settle(result);
}

// Loads `params.source` and gives an object: exported name → its type.
static JSValue inspect(JSValue params) {
    size_t length;
    const char *source = JS_ToCStringLen(context, &length, JS_GetPropertyStr(context, params, "source"));
    if (!source) return JS_EXCEPTION;
    phase = "syntax";
    JSValue namespace = load(source, length), exports = JS_NewObject(context);
    if (JS_IsException(namespace)) return namespace;
    JSPropertyEnum *names;
    uint32_t count;
    if (JS_GetOwnPropertyNames(context, &names, &count, namespace, JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY)) return JS_EXCEPTION;
    for (uint32_t i = 0; i < count; i++) {
        JSValue value = JS_GetProperty(context, namespace, names[i].atom);
        if (JS_IsException(value)) return value;
        const char *type = JS_IsFunction(context, value) ? "function" : JS_IsUndefined(value) ? "undefined" : "value";
        JS_DefinePropertyValue(context, exports, names[i].atom, JS_NewString(context, type), JS_PROP_C_W_E);
    }
    return exports;
}

EXPORT("run") Answer *run(char *json, uint32_t length) {
    if (begin()) return answer_exception();
    char *text = realloc(json, length + 1); // quickjs wants a NUL behind JSON, too
    if (!text) __builtin_trap();
    text[length] = 0;
    JSValue params = JS_ParseJSON(context, text, length, "params.json");
    if (JS_IsException(params)) return answer_exception();
    JSValue result = source_slot.kind == INSPECT ? inspect(params) : call(params);
    if (JS_IsException(result)) return answer_exception();
    JSValue string = JS_JSONStringify(context, result, JS_UNDEFINED, JS_UNDEFINED);
    if (JS_IsException(string)) return answer_exception();
    log_rejections();
    // a function or `undefined` has no JSON
    return answer_with(false, JS_IsUndefined(string) ? JS_NewString(context, "null") : string);
}
