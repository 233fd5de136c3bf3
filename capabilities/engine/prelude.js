// What a capability finds in its global scope beyond ECMAScript. Runs once, before the engine is snapshotted.
// `host` has the functions of shim.c; each throws when its power was not granted.
(function (host) {
  'use strict';
  // A capability may overwrite the global ones.
  const { stringify } = JSON;
  const { max, min, ceil } = Math;
  const RealDate = Date;
  const define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });

  // ---- log
  const show = (value) => {
    if (typeof value === 'string') return value;
    if (value instanceof Error) return value.stack ? `${value.name}: ${value.message}\n${value.stack}` : String(value);
    if (value instanceof Map || value instanceof Set) value = [...value];
    try { return stringify(value) ?? String(value); } catch { return String(value); }
  };
  const print = (level) => (...values) => { host.log(level, values.map(show).join(' ')); };
  define('console', {
    debug: print(0), trace: print(0), log: print(1), info: print(1), table: print(1), dir: print(1), warn: print(2), error: print(3),
    assert: (condition, ...values) => { if (!condition) print(3)('Assertion failed:', ...values); },
  });

  // ---- clock: timers. Due ones run one at a time, in the order of their moments, each followed by its microtasks.
  let timers = [];
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
    timers.splice(place, 0, timer);
  };
  const clearTimer = (id) => { timers = timers.filter((timer) => timer.id !== id); };
  const nextTimer = () => {
    if (timers.length === 0) return false;
    const wait = timers[0].at - host.now();
    if (wait > 0) host.sleep(ceil(wait));
    const timer = timers.shift();
    if (timer.every) insertTimer({ ...timer, at: timer.at + timer.every });
    timer.callback(...timer.values);
    return true;
  };
  define('setTimeout', (callback, delay, ...values) => addTimer(callback, delay, values, false));
  define('setInterval', (callback, delay, ...values) => addTimer(callback, delay, values, true));
  define('clearTimeout', clearTimer);
  define('clearInterval', clearTimer);
  define('queueMicrotask', (callback) => { Promise.resolve().then(callback); });

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
    data instanceof Uint8Array ? data
      : ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
      : new Uint8Array(data);
  define('TextEncoder', class TextEncoder {
    get encoding() { return 'utf-8'; }
    encode(text = '') { return host.utf8Encode(String(text)); }
  });
  define('TextDecoder', class TextDecoder {
    constructor(label = 'utf-8') {
      if (!/^utf-?8$/i.test(label)) throw new RangeError(`TextDecoder knows only utf-8, not ${label}`);
    }
    get encoding() { return 'utf-8'; }
    decode(data) { return data === undefined ? '' : host.utf8Decode(bytesOf(data)); }
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

  // ---- what is not here, in words
  define('fetch', async () => { throw new Error('network access is not available to capabilities in this version'); });

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

  return { nextTimer, refuse };
})
