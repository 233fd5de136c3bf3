INSERT INTO conversations (conversation_id, profile, created_at) VALUES (72, 'campaign', '2026-11-26T08:00Z');
INSERT INTO campaigns (conversation_id, name, status, cycles, idle_cycles, bad_answers, carried, created_at, updated_at)
VALUES (72, 'Outreach', 'active', 0, 0, 0, '[]', '2026-11-26T08:00Z', '2026-11-26T08:00Z');
INSERT INTO campaign_tasks (campaign_id, description, status, metadata, sequence, created_at, updated_at)
SELECT id, 'Find some', 'pending', '{}', 1, created_at, created_at FROM campaigns;
INSERT INTO leads (campaign_id, full_name, profile_url, weight_score, status, attributes, sequence, created_at, updated_at)
SELECT id, 'Ada', 'https://x.example/ada', 0, 'new', '{}', 2, created_at, created_at FROM campaigns;
INSERT INTO artifacts (campaign_id, artifact_type, artifact_key, version, source, content, sha256, sequence, created_at)
SELECT id, 'heuristic', 'note', 1, 'user', 'Be brief', 'ab', 3, created_at FROM campaigns;
INSERT INTO campaign_contexts (campaign_id, kind, uses_left, until, void, created_at)
SELECT id, 'persist', 3, '2026-11-26T18:00Z', FALSE, created_at FROM campaigns;
