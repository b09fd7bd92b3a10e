-- Notices: messages about an event to an address that its account has. They are written in the event's transaction,
-- which knows the address by its digest only, so address and text are read when the message is sent.
ALTER TABLE messages
    -- The address in `addresses`, whose disclosure has the text; null for a message with content of its own.
    ADD COLUMN address_id uuid,
    -- The position of the event.
    ADD COLUMN position bigint,
    ALTER wrapping_key DROP NOT NULL,
    ALTER recipient_key DROP NOT NULL,
    ALTER recipient_digest DROP NOT NULL,
    DROP CONSTRAINT messages_check1,
    ADD CHECK ((state = 'pending' AND address_id IS NULL) = (sealed IS NOT NULL)),
    ADD CHECK ((address_id IS NULL) = (position IS NULL)),
    ADD CHECK (address_id IS NOT NULL OR (wrapping_key IS NOT NULL AND recipient_key IS NOT NULL
        AND recipient_digest IS NOT NULL));
