async function page_watch({ page }) {
  // Both start at once. The host puts the secret's value in when the request leaves.
  const [response, before] = await Promise.all([
    fetch(`https://status.example.com/pages/${page}`, { headers: { authorization: `Bearer ${host.secret('STATUS_KEY')}` } }),
    host.kv.get(page),
  ]);
  if (!response.ok) throw new Error(`the status page answered ${response.status}`);
  const text = await response.text();
  const changed = text !== before;
  if (changed) await host.kv.set(page, text);
  return { changed, text };
}
