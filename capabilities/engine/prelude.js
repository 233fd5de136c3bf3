// What a capability finds in its global scope beyond ECMAScript. Runs once, before the engine is snapshotted.
// `host` has the functions of shim.c. Those of log, clock and random throw when their power was not granted; the others may be
// called only after `need`.
(function (host) {
  'use strict';
  // A capability may overwrite the global ones.
  const { parse, stringify } = JSON;
  const { max, min, ceil, round } = Math;
  const { isArray } = Array;
  const { freeze, keys, create, setPrototypeOf } = Object;
  const { apply } = Reflect;
  const { iterator } = Symbol;
  const { isView } = ArrayBuffer;
  const RealDate = Date, RealError = Error, RealTypeError = TypeError, RealPromise = Promise;
  const RealMap = Map, RealSet = Set, RealString = String;
  const Bytes = Uint8Array, Buffer = ArrayBuffer, Address = URL, Query = URLSearchParams;
  const method = (function_) => Function.prototype.call.bind(function_);
  const shift = method(Array.prototype.shift), splice = method(Array.prototype.splice);
  const toLowerCase = method(String.prototype.toLowerCase), toUpperCase = method(String.prototype.toUpperCase);
  const trim = method(String.prototype.trim), slice = method(String.prototype.slice);
  const has = method(Set.prototype.has), add = method(Set.prototype.add);
  const toBase64 = method(Uint8Array.prototype.toBase64), fromBase64 = Uint8Array.fromBase64.bind(Uint8Array);
  const define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });

  // ---- log
  // JSON of what has none: what stood above is marked, so a circle ends, and a BigInt is a text.
  const marked = (value) => {
    const above = new RealSet();
    return stringify(value, (_, item) => {
      if (typeof item === 'bigint') return `${item}n`;
      if (typeof item !== 'object' || item === null) return item;
      if (has(above, item)) return '[as above]';
      add(above, item);
      return item;
    });
  };
  const show = (value) => {
    if (typeof value === 'string') return value;
    if (value instanceof RealError) return value.stack ? `${value.name}: ${value.message}\n${value.stack}` : RealString(value);
    if (value instanceof RealMap || value instanceof RealSet) value = [...value];
    if (typeof value === 'object') {
      try { return stringify(value) ?? RealString(value); } catch { /* a circle, a BigInt, or a promise */ }
      try { return marked(value) ?? RealString(value); } catch { /* a promise */ }
    }
    try { return RealString(value); } catch (error) { return `${error}`; }
  };
  const print = (level) => (...values) => {
    let line = '';
    for (let i = 0; i < values.length; i++) line += (i ? ' ' : '') + show(values[i]);
    host.log(level, line);
  };
  const counts = create(null), times = create(null);
  const sinceTime = (label = 'default', ...values) => print(1)(`${label}: ${round(host.now() - times[label])} ms`, ...values);
  define('console', {
    debug: print(0), trace: print(0), log: print(1), info: print(1), table: print(1), dir: print(1), warn: print(2), error: print(3),
    assert: (condition, ...values) => { if (!condition) print(3)('Assertion failed:', ...values); },
    group: print(1), groupCollapsed: print(1), groupEnd() {}, clear() {},
    count: (label = 'default') => print(1)(`${label}: ${counts[label] = (counts[label] ?? 0) + 1}`),
    countReset: (label = 'default') => { delete counts[label]; },
    time: (label = 'default') => { times[label] = host.now(); },
    timeLog: sinceTime, timeEnd: sinceTime,
  });

  // ---- clock: timers. Due ones run one at a time, in the order of their moments, each followed by its microtasks.
  const timers = [];
  let lastTimer = 0;
  const addTimer = (callback, delay, values, repeat) => {
    if (typeof callback !== 'function') throw new TypeError('a timer needs a function');
    delay = min(max(+delay || 0, repeat ? 1 : 0), 2 ** 31 - 1);
    const timer = { id: ++lastTimer, at: host.now() + delay, every: repeat ? delay : 0, callback, values };
    insertTimer(timer);
    return timer.id;
  };
  const insertTimer = (timer) => {
    let place = timers.length;
    while (place > 0 && timers[place - 1].at > timer.at) place--;
    splice(timers, place, 0, timer);
  };
  const clearTimer = (id) => {
    for (let i = 0; i < timers.length; i++) if (timers[i].id === id) return void splice(timers, i, 1);
  };
  // What the engine does when no microtask is left: the next timer, or the next end of an operation, whichever comes first.
  const next = () => {
    const wait = timers.length === 0 ? -1 : max(0, ceil(timers[0].at - host.now()));
    if (underWay > 0) {
      const ended = host.wait(wait);
      if (ended) return settle(ended[0], ended[1], ended[2]);
    } else {
      if (wait < 0) return false;
      if (wait > 0) host.sleep(wait);
    }
    if (wait < 0) return true;
    const timer = shift(timers);
    if (timer.every) insertTimer({ ...timer, at: timer.at + timer.every });
    apply(timer.callback, undefined, timer.values);
    return true;
  };
  define('setTimeout', (callback, delay, ...values) => addTimer(callback, delay, values, false));
  define('setInterval', (callback, delay, ...values) => addTimer(callback, delay, values, true));
  define('clearTimeout', clearTimer);
  define('clearInterval', clearTimer);
  define('queueMicrotask', async (callback) => { await undefined; callback(); });

  // ---- random
  const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
  define('crypto', {
    getRandomValues(array) {
      host.random(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
      return array;
    },
    randomUUID() {
      const bytes = host.random(new Uint8Array(16));
      bytes[6] = (bytes[6] & 0x0f) | 0x40;
      bytes[8] = (bytes[8] & 0x3f) | 0x80;
      return Array.from(bytes, (byte, i) => ([4, 6, 8, 10].includes(i) ? '-' : '') + hex[byte]).join('');
    },
  });

  // ---- text
  const bytesOf = (data) =>
    data instanceof Bytes ? data
      : isView(data) ? new Bytes(data.buffer, data.byteOffset, data.byteLength)
      : new Bytes(data);
  define('TextEncoder', class TextEncoder {
    get encoding() { return 'utf-8'; }
    encode(text = '') { return host.utf8Encode(String(text)); }
  });
  const withoutMark = (text) => text[0] === '\ufeff' ? slice(text, 1) : text;
  const isWhole = (bytes, text) => {
    const again = host.utf8Encode(text);
    for (let i = 0; i < bytes.length; i++) if (bytes[i] !== again[i]) return false;
    return bytes.length === again.length;
  };
  define('TextDecoder', class TextDecoder {
    constructor(label = 'utf-8', { fatal = false, ignoreBOM = false } = {}) {
      if (!/^utf-?8$/i.test(label)) throw new RangeError(`TextDecoder knows only utf-8, not ${label}`);
      this.fatal = !!fatal;
      this.ignoreBOM = !!ignoreBOM;
    }
    get encoding() { return 'utf-8'; }
    decode(data) {
      if (data === undefined) return '';
      const bytes = bytesOf(data), text = host.utf8Decode(bytes);
      if (this.fatal && !isWhole(bytes, text)) throw new RealTypeError('the bytes are not UTF-8');
      return this.ignoreBOM ? text : withoutMark(text);
    }
  });

  // ---- structuredClone
  const clone = (value, seen) => {
    if (typeof value === 'function' || typeof value === 'symbol') {
      throw new DOMException(`${String(value)} cannot be cloned`, 'DataCloneError');
    }
    if (value === null || typeof value !== 'object') return value;
    if (seen.has(value)) return seen.get(value);
    const keep = (copy) => { seen.set(value, copy); return copy; };
    if (value instanceof RealDate) return keep(new RealDate(value.getTime()));
    if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
    if (value instanceof ArrayBuffer) return keep(value.slice(0));
    if (ArrayBuffer.isView(value)) {
      const buffer = value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength);
      return keep(new value.constructor(buffer));
    }
    if (value instanceof Map) {
      const copy = keep(new Map());
      for (const [key, item] of value) copy.set(clone(key, seen), clone(item, seen));
      return copy;
    }
    if (value instanceof Set) {
      const copy = keep(new Set());
      for (const item of value) copy.add(clone(item, seen));
      return copy;
    }
    if (value instanceof Error) return keep(Object.assign(new Error(value.message), { name: value.name, stack: value.stack }));
    const copy = keep(Array.isArray(value) ? new Array(value.length) : {});
    for (const key of Object.keys(value)) copy[key] = clone(value[key], seen);
    return copy;
  };
  define('structuredClone', (value) => clone(value, new Map()));

  // ---- a forgotten `await`. Whoever reads a field of a promise means the field of what it gives, and would get `undefined` without a word.
  const ofPromises = new Set(['then', 'catch', 'finally', 'constructor', Symbol.toStringTag]);
  const prototypes = create(null); // call → the prototype of the promises that it gives
  const promiseOf = (call, promise) => {
    const misread = (_, key) => {
      throw new RealTypeError(`${call} gives a promise, which has no ${describe(key)}: write \`await ${call}\` and read it from what that gives`);
    };
    prototypes[call] ??= new Proxy(create(RealPromise.prototype), {
      get: (target, key) => has(ofPromises, key) ? target[key] : misread(target, key),
      has: (target, key) => has(ofPromises, key) || misread(target, key),
    });
    return setPrototypeOf(promise, prototypes[call]);
  };
  const describe = (key) => key === iterator ? 'items' : typeof key === 'string' && key !== 'toJSON' ? `\`${key}\`` : 'value';

  // ---- what reaches outside. Nothing here awaits: a promise is settled straight from the operation's end, so that code which
  // overwrote parts of Promise breaks only its own.
  const bits = { http: 8, sql: 16, kv: 32, secrets: 64, tools: 128 };
  const need = (power, purpose, settings) => {
    const denied = host.denied();
    if (!(denied & bits[power])) return;
    const others = ~denied & 0xf8 ? ' beside those it has' : '';
    const grants = stringify({ [power]: settings });
    throw new RealTypeError(`this capability was not granted \`${power}\`; to ${purpose}, write it again with grants ${grants}${others}`);
  };
  const pending = create(null); // number → what to do at the end
  let underWay = 0;
  const start = (call, prepare, power, read, failed = (message) => message) => promiseOf(call, new RealPromise((resolve, reject) => {
    const error = new RealError(''); // made here, so that it has the place of the call
    const id = host[power](stringify(prepare()));
    pending[id] = { resolve, reject, read, failed, error };
    underWay++;
  }));
  const settle = (id, ok, value) => {
    const { resolve, reject, read, failed, error } = pending[id];
    delete pending[id];
    underWay--;
    try {
      if (ok) resolve(read(value));
      else {
        error.message = failed(value);
        reject(error);
      }
    } catch (unreadable) { reject(unreadable); }
    return true;
  };

  // ---- http: fetch
  class Headers {
    #names = [];
    #values = [];
    constructor(init) {
      if (init === undefined || init === null) return;
      if (typeof init !== 'object') throw new RealTypeError('headers are an object, an array of pairs, or Headers');
      if (#names in init) {
        for (let i = 0; i < init.#names.length; i++) this.#add(init.#names[i], init.#values[i]);
      } else if (isArray(init)) {
        for (let i = 0; i < init.length; i++) this.#add(init[i][0], init[i][1]);
      } else if (typeof init[iterator] === 'function') {
        for (const pair of init) this.#add(pair[0], pair[1]);
      } else {
        const names = keys(init);
        for (let i = 0; i < names.length; i++) this.#add(names[i], init[names[i]]);
      }
    }
    #add(name, value) {
      const place = this.#names.length;
      this.#names[place] = toLowerCase(trim(`${name}`));
      this.#values[place] = trim(`${value}`);
    }
    #drop(name) {
      const names = this.#names, values = this.#values;
      this.#names = [];
      this.#values = [];
      for (let i = 0; i < names.length; i++) if (names[i] !== name) this.#add(names[i], values[i]);
    }
    // One pair for each name.
    #joined() {
      const pairs = [], places = create(null);
      for (let i = 0; i < this.#names.length; i++) {
        const name = this.#names[i], place = places[name];
        if (place === undefined) pairs[places[name] = pairs.length] = [name, this.#values[i]];
        else pairs[place][1] += `, ${this.#values[i]}`;
      }
      return pairs;
    }
    append(name, value) { this.#add(name, value); }
    set(name, value) { this.delete(name); this.#add(name, value); }
    delete(name) { this.#drop(toLowerCase(trim(`${name}`))); }
    get(name) {
      name = toLowerCase(trim(`${name}`));
      const pairs = this.#joined();
      for (let i = 0; i < pairs.length; i++) if (pairs[i][0] === name) return pairs[i][1];
      return null;
    }
    has(name) { return this.get(name) !== null; }
    getSetCookie() { return this.#values.filter((_, place) => this.#names[place] === 'set-cookie'); }
    forEach(callback, self) {
      const pairs = this.#joined();
      for (let i = 0; i < pairs.length; i++) apply(callback, self, [pairs[i][1], pairs[i][0], this]);
    }
    *entries() { yield* this.#joined(); }
    *keys() { for (const pair of this.#joined()) yield pair[0]; }
    *values() { for (const pair of this.#joined()) yield pair[1]; }
    [iterator]() { return this.entries(); }
    static pairs(headers) {
      const pairs = [];
      for (let i = 0; i < headers.#names.length; i++) pairs[i] = [headers.#names[i], headers.#values[i]];
      return pairs;
    }
  }
  const { pairs: pairsOf } = Headers;
  delete Headers.pairs;

  class Response {
    #body; // text or bytes
    constructor(body = '', { status = 200, statusText = '', headers, url = '' } = {}) {
      this.#body = typeof body === 'string' ? body : bytesOf(body);
      this.headers = new Headers(headers);
      this.status = status;
      this.statusText = statusText;
      this.url = url;
    }
    get ok() { return this.status >= 200 && this.status < 300; }
    get bodyUsed() { return false; } // it may be read as often as one likes
    #text() { return withoutMark(typeof this.#body === 'string' ? this.#body : host.utf8Decode(this.#body)); }
    #bytes() { return typeof this.#body === 'string' ? host.utf8Encode(this.#body) : new Bytes(this.#body); }
    #gives(name, read) { return promiseOf(`response.${name}()`, (async () => read())()); }
    text() { return this.#gives('text', () => this.#text()); }
    json() { return this.#gives('json', () => parse(this.#text())); }
    bytes() { return this.#gives('bytes', () => this.#bytes()); }
    arrayBuffer() { return this.#gives('arrayBuffer', () => this.#bytes().buffer); }
    clone() { return this; }
  }
  define('Headers', Headers);
  define('Response', Response);

  const withBody = (request, headers, body) => {
    const type = (what) => { if (!headers.has('content-type')) headers.append('content-type', what); };
    if (typeof body === 'string') {
      type('text/plain;charset=UTF-8');
      request.body = body;
    } else if (isView(body) || body instanceof Buffer) {
      request.body_base64 = toBase64(bytesOf(body));
    } else if (body instanceof Query) {
      type('application/x-www-form-urlencoded;charset=UTF-8');
      request.body = `${body}`;
    } else {
      throw new RealTypeError('a body is a string, a Uint8Array, an ArrayBuffer or URLSearchParams; give an object as JSON.stringify(object)');
    }
  };
  // The address as `grants` has it: https and its port go without saying.
  const hostOf = (url) => {
    try {
      const { protocol, host: place } = new Address(url);
      if (place) return { place, host: protocol === 'https:' ? place : `${protocol}//${place}` };
    } catch { /* no address */ }
    return { place: 'a host', host: 'api.example.com' };
  };
  define('fetch', (input, init = {}) => start('fetch(…)', () => {
    const url = typeof input === 'object' && input !== null && typeof input.url === 'string' ? input.url : `${input}`;
    const { place, host: granted } = hostOf(url);
    need('http', `reach ${place}`, { hosts: [granted] });
    if ((init.redirect ?? 'follow') !== 'follow') {
      throw new RealTypeError('redirects within the grants are always followed here: leave `redirect` out and compare response.url with the address');
    }
    const method = toUpperCase(`${init.method ?? 'GET'}`), headers = new Headers(init.headers), request = { method, url };
    if (init.body !== undefined && init.body !== null) {
      if (method === 'GET' || method === 'HEAD') throw new RealTypeError(`a request with ${method} has no body; give a method, like POST`);
      withBody(request, headers, init.body);
    }
    request.headers = pairsOf(headers);
    return request;
  }, 'http', (answer) => {
    const { status, status_text: statusText, url, headers, body, body_base64: bytes } = parse(answer);
    return new Response(bytes === undefined ? body : fromBase64(bytes), { status, statusText, url, headers });
  }));

  // ---- sql, kv, secrets, tools
  const kv = (name, prepare) => start(`host.kv.${name}(…)`, () => {
    need('kv', 'keep values between calls', {});
    return prepare();
  }, 'kv', parse);
  define('host', freeze({
    sql: (text, params = []) => start('host.sql(…)', () => {
      need('sql', 'run SQL', { access: 'read' });
      if (!isArray(params)) throw new RealTypeError('host.sql(text, params): params is an array, one value for each $1, $2 …');
      return { text: `${text}`, params };
    }, 'sql', parse),
    kv: freeze({
      get: (key) => kv('get', () => ({ do: 'get', key: `${key}` })),
      set: (key, value = null) => kv('set', () => ({ do: 'set', key: `${key}`, value })),
      delete: (key) => kv('delete', () => ({ do: 'delete', key: `${key}` })),
      list: (prefix = '') => kv('list', () => ({ do: 'list', prefix: `${prefix}` })),
    }),
    call: (tool, params = {}) => start('host.call(…)', () => {
      need('tools', `call ${tool}`, { names: [`${tool}`] });
      return { name: `${tool}`, params };
    }, 'tools', (result) => {
      try { return parse(result); } catch { return result; }
    }, (failure) => {
      try { return `${parse(failure).message ?? failure}`; } catch { return failure; }
    }),
    secret: (name) => {
      need('secrets', `use ${name}`, { [name]: ['api.example.com'] });
      return host.secret(`${name}`);
    },
  }));

  // Bits as in shim.c. What quickjs itself would answer without the power is made an error, too.
  const refuse = (denied) => {
    const not = (power) => () => { throw new TypeError(`this capability was not granted \`${power}\``); };
    if (denied & 2) {
      const clock = not('clock');
      define('Date', new Proxy(RealDate, {
        apply: clock,
        construct: (target, values, self) => values.length === 0 ? clock() : Reflect.construct(target, values, self),
        get: (target, key) => key === 'now' ? clock : target[key],
      }));
      globalThis.performance = { now: clock };
    }
    if (denied & 4) Math.random = not('random');
  };

  return { next, refuse, show };
})
