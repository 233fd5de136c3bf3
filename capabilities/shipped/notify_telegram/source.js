async function notify_telegram({ text, chat_id, make_default = false, silent = false }) {
  const chat = chat_id ?? (await host.kv.get('chat'));
  if (chat === null) {
    throw new Error(
      'no chat is known yet: give chat_id, and make_default: true so that it need not be given again. The user finds it by writing ' +
        "to the bot and then opening https://api.telegram.org/bot<token>/getUpdates: it is message.chat.id there. Nobody but the user " +
        'can do this, for it takes the token.',
    );
  }
  // The token is part of the address. What stands here is a placeholder, and becomes the token when the request leaves.
  const response = await fetch(`https://api.telegram.org/bot${host.secret('TELEGRAM_BOT_TOKEN')}/sendMessage`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ chat_id: chat, text, disable_notification: silent }),
  });
  const answer = await read(response);
  if (!answer.ok) throw new Error(`Telegram did not take the message: ${explain(answer)}`);
  if (make_default) await host.kv.set('chat', chat);
  return { sent: true, message_id: answer.result.message_id };
}

async function read(response) {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return { ok: false, error_code: response.status, description: text.slice(0, 300) };
  }
}

function explain({ error_code: code, description, parameters }) {
  const told = `${code} ${description}`;
  if (code === 401 || code === 404) return `${told}. The token is wrong; the user can set it again: level3 secret set TELEGRAM_BOT_TOKEN`;
  if (code === 403) return `${told}. The user has to write to the bot first, or unblock it.`;
  if (parameters?.migrate_to_chat_id) return `${told}. The chat has the new id ${parameters.migrate_to_chat_id}.`;
  if (parameters?.retry_after) return `${told}. Try again in ${parameters.retry_after} seconds.`;
  return told;
}
