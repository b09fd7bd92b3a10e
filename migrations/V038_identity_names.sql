-- The names that people gave to their passkeys. Beside the log and the read models: no event has them.
CREATE TABLE identity_names (
    tenant_id text COLLATE "C" NOT NULL,
    identity_id uuid NOT NULL,
    -- The account that had the identity when it was named.
    account_id uuid NOT NULL,
    name text NOT NULL,
    PRIMARY KEY (tenant_id, identity_id)
);
CREATE INDEX identity_names_by_account ON identity_names (account_id, tenant_id);
