-- Erasure and legal holds.

-- The holds of an account, as the log leaves them.
ALTER TABLE accounts ADD COLUMN legal_holds uuid[];

-- An erasure finds what was ever last an account's, linked or not. Of a linked identity, account_id and
-- last_account_id are the same, so one index serves both.
DROP INDEX identities_by_account;
CREATE INDEX identities_by_last_account ON identities (last_account_id, tenant_id);
