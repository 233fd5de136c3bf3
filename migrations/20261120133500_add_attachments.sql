-- A message can bring images. Their bytes are kept once, under their sha256; messages and events name them by it, so that the stream stays
-- small and a changed image is found.

CREATE TABLE attachments (
    -- Of the bytes, in hexadecimal.
    sha256 TEXT PRIMARY KEY CHECK (length(sha256) = 64),
    media_type TEXT NOT NULL CHECK (media_type IN ('image/png', 'image/jpeg', 'image/webp', 'image/gif')),
    bytes BYTEA NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
-- An image is compressed already.
ALTER TABLE attachments ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- What a message brought, in its order: sha256, media type and size of each.
ALTER TABLE messages ADD COLUMN images JSONB NOT NULL DEFAULT '[]';
