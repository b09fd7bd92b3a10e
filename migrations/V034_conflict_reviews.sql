-- Notes of staff that a conflict was looked at. Beside the read model, which can be folded again: the log has none of
-- them.
CREATE TABLE conflict_reviews (
    tenant_id text COLLATE "C" NOT NULL,
    -- The first attempt of the conflict, and the last one when the note was written: a later one makes it void.
    first_position bigint NOT NULL,
    last_position bigint NOT NULL,
    -- Both parties at the first attempt: the erasure of either deletes the note.
    caller_id uuid NOT NULL,
    holder_id uuid,
    note text NOT NULL,
    principal text COLLATE "C" NOT NULL,
    reviewed_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, first_position)
);
CREATE INDEX conflict_reviews_caller ON conflict_reviews (caller_id, tenant_id);
CREATE INDEX conflict_reviews_holder ON conflict_reviews (holder_id, tenant_id) WHERE holder_id IS NOT NULL;
