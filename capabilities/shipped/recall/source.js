async function recall({ query, language = 'simple', limit = 5 }) {
  const asked = [...new Set(wordsOf(query))].map((word) => ({ word, pieces: piecesOf(word) }));
  if (asked.length === 0) throw new Error('give words to look for; the query has none');
  const [{ made }] = await host.sql("SELECT to_regclass('agent.remembered_notes') IS NOT NULL AS made");
  if (!made) return { notes: [], hint: 'Nothing has been remembered yet.' };

  const pieces = [...new Set(asked.flatMap((one) => [...one.pieces]))];
  const candidates = await host.sql(SEARCH, [asked.map(({ word }) => word).join(' '), language, pieces]);
  const notes = candidates
    .map((note) => ({ ...note, similarity: note.matches ? 1 : similarity(asked, note.words) }))
    .filter((note) => note.similarity >= 0.5)
    .sort((a, b) => b.similarity - a.similarity) // what is equal stays in the order of the database
    .slice(0, limit);
  return {
    notes: notes.map(({ note_id, text, written_at, matches, similarity }) =>
      matches ? { note_id, text, written_at } : { note_id, text, written_at, only_similar: Number(similarity.toFixed(2)) },
    ),
  };
}

// First the notes that have every word, the closest together first; then those that hold at least half of the query's pieces of three
// letters, as misspelled words do. This is the idea of the extension pg_trgm, which is not used: not every server has it, and the
// agent's login may not create it. In `words` each word stands between the spaces that its outer pieces have, too.
const SEARCH = `
  WITH asked AS (SELECT plainto_tsquery('simple', $1) || plainto_tsquery($2::regconfig, $1) AS query),
  rated AS (
    SELECT note_id, text, words, written_at, document @@ query AS matches, ts_rank_cd(document, query) AS rank,
      (SELECT count(*) FROM unnest($3::text[]) AS piece WHERE strpos(words, piece) > 0)::float8 / cardinality($3::text[]) AS share
    FROM agent.remembered_notes, asked)
  SELECT note_id, text, words, written_at, matches FROM rated WHERE matches OR share >= 0.5
  ORDER BY matches DESC, rank DESC, share DESC, note_id DESC LIMIT 50`;

// How well the words asked for are found among a note's, from 0 to 1. Pieces may have come from all over a long note; here each word
// is compared with one word at a time.
function similarity(asked, words) {
  const theirs = [...new Set(words.match(/\S+/g))].map((word) => ({ word, pieces: piecesOf(word) }));
  const best = asked.map((one) => Math.max(...theirs.map((other) => alike(one, other))));
  return best.reduce((sum, value) => sum + value, 0) / best.length;
}

function alike(one, other) {
  if (one.word.length > 2 && other.word.includes(one.word)) return 1; // a part of a compound
  let shared = 0;
  for (const piece of one.pieces) if (other.pieces.has(piece)) shared += 1;
  return (2 * shared) / (one.pieces.size + other.pieces.size);
}

function piecesOf(word) {
  const letters = [' ', ' ', ...word, ' ']; // so that how a word begins counts most
  return new Set(letters.slice(2).map((letter, place) => letters[place] + letters[place + 1] + letter));
}

// As in `remember`, which stores the words; change both.
function wordsOf(text) {
  const plain = text.toLowerCase().replaceAll('ß', 'ss').normalize('NFKD').replace(/\p{M}/gu, '');
  return plain.match(/[\p{L}\p{N}]+/gu) ?? [];
}
