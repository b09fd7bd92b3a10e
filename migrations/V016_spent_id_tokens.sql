-- The ID tokens that have opened a session, of tenants that want each to be used once: a keyed digest, which
-- names nobody and which nobody finds by trying who has the database alone. Swept after the token expired. Like
-- idempotency_records it has no event behind it.
CREATE TABLE spent_id_tokens (
    tenant_id text COLLATE "C" NOT NULL,
    digest bytea NOT NULL CHECK (octet_length(digest) = 32),
    first_used_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, digest)
);
CREATE INDEX spent_id_tokens_by_expiry ON spent_id_tokens (expires_at);
