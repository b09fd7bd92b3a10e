-- The name of the encryption key from which the key of scope and fingerprint is derived; null for the plain
-- digests of a former release, which are looked up for a day after this migration (applied_at of its row).
ALTER TABLE idempotency_records ADD COLUMN key_id text COLLATE "C";
