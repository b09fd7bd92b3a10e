-- Indexes beside a primary key begin with the column that finds few rows. With the tenant first, a plan made while a
-- table is empty may take any of them for a look-up by another column, and reads all rows of the tenant.
DROP INDEX challenges_by_digest;
CREATE INDEX challenges_by_digest ON challenges (digest, tenant_id);
DROP INDEX addresses_by_digest;
CREATE UNIQUE INDEX addresses_by_digest ON addresses (digest, tenant_id);
DROP INDEX addresses_by_account;
CREATE INDEX addresses_by_account ON addresses (account_id, tenant_id);
DROP INDEX credentials_by_account;
CREATE INDEX credentials_by_account ON credentials (account_id, tenant_id);
DROP INDEX messages_of_account;
CREATE INDEX messages_of_account ON messages (account_id, tenant_id, created_at) WHERE account_id IS NOT NULL;
DROP INDEX messages_to;
CREATE INDEX messages_to ON messages (recipient_digest, tenant_id);
