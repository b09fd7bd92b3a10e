-- The time before which device tokens were issued that no longer make a device known: those of an account since its
-- sessions all ended, and all of a tenant since a restore was accepted.
ALTER TABLE accounts ADD COLUMN devices_ended_at timestamptz;
ALTER TABLE ledger_head ADD COLUMN devices_ended_at timestamptz;
