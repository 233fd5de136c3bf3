// For an ntfy server of your own, write its host here and in the grants, and install it under another name.
const SERVER = 'https://ntfy.sh/';

async function notify_ntfy({ message, topic, title, priority, tags, click }) {
  // Whoever knows a topic can read along, so the usual one is kept as a secret; it is put in when the request leaves.
  const note = { topic: topic ?? host.secret('NTFY_TOPIC'), message, title, priority, tags, click };
  const response = await fetch(SERVER, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(note),
  });
  if (!response.ok) throw new Error(await why(response));
  const { id } = await response.json();
  return { sent: true, id };
}

async function why(response) {
  const text = await response.text();
  let told = text.slice(0, 300);
  try {
    told = JSON.parse(text).error ?? told;
  } catch {
    // Something on the way to the server answered in its place; its words will do.
  }
  return `ntfy did not take the message: ${response.status} ${told}`;
}
