-- An address may belong to an account that has not proved it yet: a claim.
ALTER TABLE addresses ADD COLUMN claimed boolean NOT NULL DEFAULT false;
