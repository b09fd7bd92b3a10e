-- Webhooks: where a tenant's events are sent, and how far that is. Nothing here is evidence: what was
-- delivered follows from no entry, and no command reads or writes any of it.

-- What the operator wants. Only the login that owns the schema writes it: whoever may write an address
-- here has the log sent to it.
CREATE TABLE webhook_endpoints (
    tenant_id text COLLATE "C" NOT NULL,
    endpoint_id uuid NOT NULL,
    url text COLLATE "C" NOT NULL CHECK (octet_length(url) BETWEEN 1 AND 2048),
    -- The types of events that are sent; empty for all.
    types text[] NOT NULL,
    -- Counts the changes, so that who works on an endpoint notices one.
    revision bigint NOT NULL,
    created_at timestamptz NOT NULL,
    disabled_at timestamptz,
    PRIMARY KEY (tenant_id, endpoint_id)
);

-- What signs, wrapped like the keys of accounts. A secret that was replaced signs until it ends.
CREATE TABLE webhook_secrets (
    tenant_id text COLLATE "C" NOT NULL,
    endpoint_id uuid NOT NULL,
    secret_id uuid NOT NULL,
    wrapping_key text COLLATE "C" NOT NULL,
    wrapped_secret bytea NOT NULL,
    made_at timestamptz NOT NULL,
    ends_at timestamptz,
    PRIMARY KEY (tenant_id, endpoint_id, secret_id)
);
ALTER TABLE webhook_secrets ALTER wrapped_secret SET STATISTICS 0;

-- How far an endpoint is: every event before next_position was delivered, was passed over for its type,
-- or is a row of webhook_deliveries. The row is the lease of who works on it: each write names the lease.
CREATE TABLE webhook_cursors (
    tenant_id text COLLATE "C" NOT NULL,
    endpoint_id uuid NOT NULL,
    next_position bigint NOT NULL CHECK (next_position >= 0),
    lease uuid,
    expires_at timestamptz,
    -- When the receiver said that it is gone for good (410).
    gone_at timestamptz,
    PRIMARY KEY (tenant_id, endpoint_id)
) WITH (fillfactor = 50);

-- Events that are on their way to an endpoint, and those that were given up. Ids only: an entry has no
-- personal data, and rows may name accounts that were erased since.
CREATE TABLE webhook_deliveries (
    tenant_id text COLLATE "C" NOT NULL,
    endpoint_id uuid NOT NULL,
    position bigint NOT NULL CHECK (position >= 0),
    event_id uuid NOT NULL,
    type text COLLATE "C" NOT NULL,
    accounts uuid[] NOT NULL,
    state text COLLATE "C" NOT NULL CHECK (state IN ('pending', 'dead')),
    attempts int NOT NULL CHECK (attempts >= 0),
    next_attempt_at timestamptz NOT NULL,
    -- Of the last attempt: when it ended, and either the status of the answer or why there was none.
    attempted_at timestamptz,
    status int,
    fault text COLLATE "C",
    PRIMARY KEY (tenant_id, endpoint_id, position)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
