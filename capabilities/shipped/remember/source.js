async function remember({ text, language = 'simple' }) {
  const plain = text.trim();
  const words = wordsOf(plain);
  if (words.length === 0) throw new Error('there is nothing to remember: the text has no words');
  // Each time, and not after asking whether it is there: a call that is run again after a crash must take the same way as before.
  await host.sql(TABLE);
  // The same text once more is the same note.
  const [note] = await host.sql(
    `INSERT INTO agent.remembered_notes (text, words, language) VALUES ($1, $2, $3)
     ON CONFLICT (text_md5) DO UPDATE SET language = excluded.language, written_at = now()
     RETURNING note_id, written_at`,
    [plain, words.map((word) => `  ${word} `).join(''), language],
  );
  return { remembered: true, note_id: note.note_id, written_at: note.written_at };
}

const TABLE = `
  CREATE TABLE IF NOT EXISTS agent.remembered_notes (
    note_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    text text NOT NULL,
    text_md5 text GENERATED ALWAYS AS (md5(text)) STORED UNIQUE,
    words text NOT NULL,
    language regconfig NOT NULL,
    document tsvector GENERATED ALWAYS AS (to_tsvector('simple', words) || to_tsvector(language, words)) STORED,
    written_at timestamptz NOT NULL DEFAULT now()
  )`;

// The words as `recall` looks for them: small letters without accents, so that a search need not be spelled as the note is. Done here
// and not by lower(), which knows only the letters of the database's locale. `recall` has the same function; change both.
function wordsOf(text) {
  const plain = text.toLowerCase().replaceAll('ß', 'ss').normalize('NFKD').replace(/\p{M}/gu, '');
  return plain.match(/[\p{L}\p{N}]+/gu) ?? [];
}
