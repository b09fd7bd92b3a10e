-- A row per sample: the number of events not folded yet, and the age of the first of them.

SET client_min_messages = warning;
-- A sample must not cause a disk write.
SET synchronous_commit = off;
DROP TABLE IF EXISTS lag_samples, lag_ends;
CREATE UNLOGGED TABLE lag_samples (events bigint NOT NULL, seconds numeric NOT NULL);
CREATE UNLOGGED TABLE lag_ends (ends boolean NOT NULL);

DO $$
BEGIN
    WHILE NOT EXISTS (SELECT FROM lag_ends) LOOP
        INSERT INTO lag_samples
        SELECT h.next_position - p.position, coalesce(
            (SELECT extract(epoch FROM clock_timestamp() - e.recorded_at) FROM events e
             WHERE e.tenant_id = p.tenant_id AND e.position = p.position), 0)
        FROM ledger_head h JOIN projections p USING (tenant_id)
        WHERE h.tenant_id = 'default';
        COMMIT;
        PERFORM pg_sleep(0.05);
    END LOOP;
END
$$;
