-- An address that replaced another one keeps its id. The former one has a row of its own while it can be taken back.
ALTER TABLE addresses
    -- The address that replaced it; null for one that is in use.
    ADD COLUMN former_of uuid,
    -- The end of the time in which the former address can be taken back, in both rows.
    ADD COLUMN kept_until timestamptz;

-- The event that discloses the recipient of a notice: the address may be another one when the notice is sent. Null for
-- a notice of a former release, which goes to the present address.
ALTER TABLE messages ADD COLUMN address_position bigint;
