-- When a linked identity is unlinked, because support planned it.
ALTER TABLE identities ADD COLUMN unlink_due timestamptz;
CREATE INDEX identities_due ON identities (unlink_due, identity_id) WHERE unlink_due IS NOT NULL;

-- Of a passkey that is a second factor: the provider_id that its key has as an identity, and its domain. NULL for those
-- that were enrolled before.
ALTER TABLE factors ADD COLUMN credential text COLLATE "C", ADD COLUMN domain text COLLATE "C";
