-- Erasures that an administrator asked for and that another one has to confirm, in tenants with erase_needs_two. At most
-- one per account; no event says so, and nothing has happened to the account.
CREATE TABLE erasure_requests (
    tenant_id text COLLATE "C" NOT NULL,
    account_id uuid NOT NULL,
    request_id uuid NOT NULL,
    -- Such as staff:<id>.
    principal text COLLATE "C" NOT NULL,
    -- The digest of the plan that the asker agreed to.
    plan bytea NOT NULL,
    basis text COLLATE "C" NOT NULL,
    reason text NOT NULL,
    asked_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    mac bytea,
    PRIMARY KEY (tenant_id, account_id)
);
CREATE INDEX erasure_requests_expiry ON erasure_requests (expires_at);
