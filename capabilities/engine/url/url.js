// quickjs-ng has no URL; core-js-pure's follows the WHATWG standard.
import URL from 'core-js-pure/web/url';
import URLSearchParams from 'core-js-pure/web/url-search-params';

for (const [name, value] of Object.entries({ URL, URLSearchParams })) {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
}
