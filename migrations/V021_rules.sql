-- Decision state: the rules of a tenant, as its last RulesSet says. A tenant without a row has not recorded any.
CREATE TABLE rules (
    tenant_id text COLLATE "C" NOT NULL PRIMARY KEY,
    version bigint NOT NULL,
    -- The bytes of the entry's details.
    body text COLLATE "C" NOT NULL,
    mac bytea
);
CREATE TRIGGER rules_no_truncate BEFORE TRUNCATE ON rules
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
ALTER TABLE rules ENABLE ALWAYS TRIGGER rules_no_truncate;

-- The version of the row of rules; null while the log has no RulesSet. The head's MAC covers it, so that a former row of
-- rules is recognised.
ALTER TABLE ledger_head ADD COLUMN rules_version bigint;
