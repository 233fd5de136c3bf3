// Resend is one of many mail services. For another one, write its address, body and secret here, its host in the grants, and leave
// `keyed` out of them unless the service documents Idempotency-Key: then a mail is never sent twice, but may be left unsent.
const API = 'https://api.resend.com/emails';

async function send_email({ to, subject, text, html, from, cc, bcc, reply_to, make_default = false }) {
  const sender = from ?? (await host.kv.get('from'));
  if (sender === null) {
    throw new Error(
      'no sender is known yet: give from, an address of a domain that is verified at Resend, and make_default: true so that it need ' +
        'not be given again. Ask the user which address it is.',
    );
  }
  const response = await fetch(API, {
    method: 'POST',
    headers: { authorization: `Bearer ${host.secret('RESEND_API_KEY')}`, 'content-type': 'application/json' },
    body: JSON.stringify({ from: sender, to, subject, text, html, cc, bcc, reply_to }),
  });
  const answer = await read(response);
  if (!response.ok) throw new Error(`Resend did not take the mail: ${response.status} ${explain(response.status, answer)}`);
  if (make_default) await host.kv.set('from', sender);
  return { sent: true, id: answer.id };
}

async function read(response) {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return { message: text.slice(0, 300) };
  }
}

function explain(status, { message = 'without a reason' }) {
  if (status === 401) return `${message}. The user can set the key again: level3 secret set RESEND_API_KEY`;
  if (status === 429) return `${message}. Wait before you try again, and say so to the user.`;
  return message;
}
