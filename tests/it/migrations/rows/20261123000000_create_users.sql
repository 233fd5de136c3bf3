INSERT INTO users (id, name, name_key, display_name, password_hash, created_at)
VALUES (7, 'Ana', 'ana', 'Ana', '$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$aGFzaA', '2026-11-23T00:00:00Z');
INSERT INTO sessions (user_id, secret_sha256, client, created_at, used_at, expires_at)
VALUES (7, sha256('a'), 'a browser', '2026-11-23T00:00:00Z', '2026-11-23T00:00:00Z', '2026-12-23T00:00:00Z');
INSERT INTO user_tokens (user_id, secret_sha256, created_at) VALUES (7, sha256('b'), '2026-11-23T00:00:00Z');
INSERT INTO invitations (user_id, secret_sha256, created_at, expires_at)
VALUES (7, sha256('c'), '2026-11-23T00:00:00Z', '2026-11-24T00:00:00Z');
