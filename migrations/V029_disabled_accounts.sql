-- The position of the AccountDisabled since which nothing signs in to the account; NULL while it is enabled.
ALTER TABLE accounts ADD COLUMN disabled_position bigint;
