-- Auditors, support and administrators: the keys they come with, and what they looked at.

CREATE TABLE api_keys (
    tenant_id text COLLATE "C" NOT NULL,
    key_id uuid NOT NULL,
    -- What an operator calls it.
    label text NOT NULL CHECK (octet_length(label) BETWEEN 1 AND 255),
    role text COLLATE "C" NOT NULL CHECK (role IN ('auditor', 'support', 'admin')),
    -- SHA-256 of 256 random bits: nothing that could be guessed.
    secret_digest bytea NOT NULL CHECK (octet_length(secret_digest) = 32),
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz,
    PRIMARY KEY (tenant_id, key_id)
);

-- One row a tenant: its lock gives the access log its order, as ledger_head does for events.
CREATE TABLE access_heads (
    tenant_id text COLLATE "C" NOT NULL PRIMARY KEY,
    next_position bigint NOT NULL CHECK (next_position > 0),
    last_accessed_at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- Each look at the ledger by a principal, written before the answer (PCI DSS v4, 10.2.1.3). Positions are
-- gapless and in commit order, so a reader that goes on behind the last one misses nothing, and a row that
-- was taken out leaves a gap.
CREATE TABLE access_log (
    tenant_id text COLLATE "C" NOT NULL,
    position bigint NOT NULL CHECK (position >= 0),
    accessed_at timestamptz NOT NULL,
    -- `api_key:<id>` or `operator`.
    principal text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL,
    action text COLLATE "C" NOT NULL,
    account_id uuid,
    event_id uuid,
    -- Positions, filters and sizes of the request, a JSON object of texts, without personal data.
    details text COLLATE "C" NOT NULL,
    -- Whether personal data was shown, and why it was asked for.
    disclosed boolean NOT NULL,
    reason text CHECK (octet_length(reason) <= 1024),
    outcome text COLLATE "C" NOT NULL CHECK (outcome IN ('allowed', 'refused')),
    request_id uuid,
    PRIMARY KEY (tenant_id, position)
) WITH (autovacuum_freeze_max_age = 1000000000, autovacuum_vacuum_insert_scale_factor = 0.05);

-- Finding an event by its id: ids are in order of time nearly everywhere, so a summary of each range
-- of pages is enough, and costs an append next to nothing.
CREATE INDEX events_by_id ON events USING brin (event_id)
    WITH (pages_per_range = 32, autosummarize = on);
