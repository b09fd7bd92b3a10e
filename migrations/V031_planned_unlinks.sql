-- When a linked identity is unlinked, because support planned it.
ALTER TABLE identities ADD COLUMN unlink_due timestamptz;
CREATE INDEX identities_due ON identities (unlink_due, identity_id) WHERE unlink_due IS NOT NULL;
