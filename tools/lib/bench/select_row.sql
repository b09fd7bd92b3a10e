\set n random(1, :rows)
SELECT provider, email, identity_id, linked_at, linked_position FROM select_rows WHERE n = :n;
