-- The process that computes a tenant's digests of former e-mails, and the end of its lease.
CREATE TABLE former_email_leases (
    tenant_id text COLLATE "C" NOT NULL PRIMARY KEY,
    holder uuid NOT NULL,
    expires_at timestamptz NOT NULL
) WITH (fillfactor = 50);
