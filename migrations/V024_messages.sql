-- The outbox: messages to people, by e-mail or SMS. A row is written in the transaction of its cause, and its
-- content is destroyed when it is sent, given up or expired. Nothing here is evidence, and no command reads it.
CREATE TABLE messages (
    tenant_id text COLLATE "C" NOT NULL,
    message_id uuid NOT NULL,
    -- The account that it is about; null where none is known, as at a sign-up.
    account_id uuid,
    channel text COLLATE "C" NOT NULL CHECK (channel IN ('email', 'sms')),
    template text COLLATE "C" NOT NULL,
    language text COLLATE "C" NOT NULL,
    -- The address and the values of the template, encrypted with a key of the key directory.
    wrapping_key text COLLATE "C" NOT NULL,
    sealed bytea,
    -- The recipient, by a key that is derived from a key of the key directory.
    recipient_key text COLLATE "C" NOT NULL,
    recipient_digest bytea NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    -- When it may be sent; while a process holds it, when its lease lapses.
    next_attempt_at timestamptz NOT NULL,
    lease uuid,
    attempts int NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    state text COLLATE "C" NOT NULL DEFAULT 'pending'
        CHECK (state IN ('pending', 'sent', 'failed', 'expired', 'withdrawn')),
    ended_at timestamptz,
    -- Of the last attempt: the code of the answer, or why there was none; never a text of the other side.
    response_code int,
    fault text COLLATE "C",
    PRIMARY KEY (tenant_id, message_id),
    CHECK (expires_at <= created_at + interval '24 hours'),
    CHECK ((state = 'pending') = (sealed IS NOT NULL)),
    CHECK ((state = 'pending') = (ended_at IS NULL)),
    CHECK (state = 'pending' OR lease IS NULL)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
ALTER TABLE messages ALTER sealed SET STATISTICS 0;
ALTER TABLE messages ALTER recipient_digest SET STATISTICS 0;

CREATE INDEX messages_due ON messages (tenant_id, next_attempt_at) WHERE state = 'pending';
CREATE INDEX messages_of_account ON messages (tenant_id, account_id, created_at)
    WHERE account_id IS NOT NULL;
CREATE INDEX messages_to ON messages (tenant_id, recipient_digest);
CREATE INDEX messages_old ON messages (created_at);
