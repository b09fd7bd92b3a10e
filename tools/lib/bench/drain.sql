-- Lets the projector continue and prints the number of events that it folded, and the seconds.

SELECT max(h.next_position - p.position) AS left_over
FROM ledger_head h JOIN projections p USING (tenant_id) WHERE h.tenant_id = 'default' \gset
ROLLBACK;
SELECT clock_timestamp() AS began \gset
DO $$
BEGIN
    WHILE EXISTS (
        SELECT FROM ledger_head h JOIN projections p USING (tenant_id)
        WHERE h.tenant_id = 'default' AND p.position < h.next_position)
    LOOP
        COMMIT;
        PERFORM pg_sleep(0.01);
    END LOOP;
END
$$;
SELECT :left_over, extract(epoch FROM clock_timestamp() - :'began');
