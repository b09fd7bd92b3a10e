-- Decision state: the password of each identity that has one, as a hash encrypted under `wrapping_key`.
CREATE TABLE credentials (
    tenant_id text COLLATE "C" NOT NULL,
    identity_id uuid NOT NULL,
    -- The account to which the identity was linked; merges do not change it.
    account_id uuid NOT NULL,
    -- The position of the PasswordSet.
    version bigint NOT NULL,
    sealed bytea NOT NULL,
    wrapping_key text COLLATE "C" NOT NULL,
    mac bytea,
    PRIMARY KEY (tenant_id, identity_id)
);
CREATE INDEX credentials_by_account ON credentials (tenant_id, account_id);
CREATE TRIGGER credentials_no_truncate BEFORE TRUNCATE ON credentials
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
ALTER TABLE credentials ENABLE ALWAYS TRIGGER credentials_no_truncate;
