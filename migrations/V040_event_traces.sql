-- The spans of the requests that made events, for the webhooks that report these. Beside the log: no entry has them, and
-- they are deleted after some days.
CREATE TABLE event_traces (
    tenant_id text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    traceparent text NOT NULL,
    recorded_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, position)
);
CREATE INDEX event_traces_by_time ON event_traces (recorded_at);
