-- Relinking: an identity is found by its name, whoever holds it or held it last.

-- Not led by tenant_id, so that no plan can take it for a lookup of a subject.
CREATE INDEX identities_by_identity ON identities (identity_id, tenant_id);
