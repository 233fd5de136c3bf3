// HTML, XML and scripts are text as well, whatever else they are.
const TEXT = /^text\/|json|xml|javascript|x-www-form-urlencoded/;

async function http_get({ url, headers, max_bytes: most = 20000 }) {
  if (!/^https:\/\//i.test(url)) throw new Error(`only addresses that begin with https:// can be asked for, not ${url}`);
  const response = await fetch(url, { headers });
  const type = response.headers.get('content-type') ?? '';
  const bytes = await response.bytes();
  const result = { status: response.status, content_type: type, url: response.url, bytes: bytes.length };
  if (bytes.length === 0) return result;

  const text = decode(bytes, type.toLowerCase());
  if (text === null) return { ...result, note: 'This is no text, so its content is left out.' };
  if (bytes.length > most) {
    const note = `Only the first ${most} of ${bytes.length} bytes are here; max_bytes gives more.`;
    return { ...result, text: decode(bytes.subarray(0, most), type.toLowerCase()), note };
  }
  if (type.toLowerCase().includes('json')) {
    try {
      return { ...result, json: JSON.parse(text) };
    } catch {
      // What calls itself JSON and is none is shown as it came.
    }
  }
  return { ...result, text };
}

// Text, or null for bytes that are none.
function decode(bytes, type) {
  const charset = /charset="?([\w-]+)/.exec(type)?.[1] ?? 'utf-8';
  if (/^(iso-8859-1|latin1|windows-1252|us-ascii)$/.test(charset)) {
    let text = '';
    for (const byte of bytes) text += String.fromCharCode(byte);
    return text;
  }
  const text = new TextDecoder().decode(bytes);
  if (TEXT.test(type)) return text.replace(/\ufffd+$/, ''); // where a cut went through a letter
  return text.includes('\ufffd') || text.includes('\0') ? null : text;
}
