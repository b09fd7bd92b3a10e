-- The lease of the process that rebuilds a projection, in the row of its served table; null while none does.
-- Every write of a rebuild holds the lease, and any process may end one that has lapsed.
ALTER TABLE projection_tables ADD COLUMN builder uuid;
ALTER TABLE projection_tables ADD COLUMN builder_until timestamptz;
ALTER TABLE projection_tables ADD CHECK ((builder IS NULL) = (builder_until IS NULL));
