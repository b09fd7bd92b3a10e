-- The numbers of events by day, in UTC, and type: what an overview shows without reading the log. Counted in the order
-- of positions, up to next_position.
CREATE TABLE figure_heads (
    tenant_id text COLLATE "C" NOT NULL PRIMARY KEY,
    next_position bigint NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE daily_figures (
    tenant_id text COLLATE "C" NOT NULL,
    -- Such as 2026-11-26.
    day text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    events bigint NOT NULL,
    PRIMARY KEY (tenant_id, day, type)
) WITH (fillfactor = 70);
