-- Decision state: the ids by which other systems knew accounts. The id is also a disclosure of the AccountNamed.
CREATE TABLE names (
    tenant_id text COLLATE "C" NOT NULL,
    -- The system, such as auth0.
    source text COLLATE "C" NOT NULL,
    external_id text COLLATE "C" NOT NULL,
    -- The account that got it; merges do not change it.
    account_id uuid NOT NULL,
    -- The position of the AccountNamed.
    position bigint NOT NULL,
    mac bytea,
    PRIMARY KEY (tenant_id, source, external_id)
);
CREATE INDEX names_by_account ON names (account_id, tenant_id);
CREATE TRIGGER names_no_truncate BEFORE TRUNCATE ON names
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
ALTER TABLE names ENABLE ALWAYS TRIGGER names_no_truncate;
