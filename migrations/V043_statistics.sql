-- No personal data and no secret in the samples of ANALYZE, which outlive an erasure: these columns are looked up
-- through unique keys, or not at all. A change to the same type drops earlier samples and touches no row.
ALTER TABLE accounts ALTER attempts TYPE bytea;
ALTER TABLE accounts ALTER attempts SET STATISTICS 0;
ALTER TABLE addresses ALTER digest TYPE bytea;
ALTER TABLE addresses ALTER digest SET STATISTICS 0;
ALTER TABLE names ALTER external_id TYPE text COLLATE "C";
ALTER TABLE names ALTER external_id SET STATISTICS 0;
ALTER TABLE credentials ALTER sealed TYPE bytea;
ALTER TABLE credentials ALTER sealed SET STATISTICS 0;
ALTER TABLE factors ALTER sealed TYPE bytea, ALTER credential TYPE text COLLATE "C";
ALTER TABLE factors ALTER sealed SET STATISTICS 0, ALTER credential SET STATISTICS 0;
ALTER TABLE challenges ALTER digest TYPE bytea, ALTER sealed TYPE bytea;
ALTER TABLE challenges ALTER digest SET STATISTICS 0, ALTER sealed SET STATISTICS 0;
ALTER TABLE erasure_requests ALTER reason TYPE text;
ALTER TABLE erasure_requests ALTER reason SET STATISTICS 0;
ALTER TABLE idempotency_records ALTER scope TYPE bytea, ALTER fingerprint TYPE bytea,
    ALTER answer TYPE text COLLATE "C";
ALTER TABLE idempotency_records ALTER scope SET STATISTICS 0, ALTER fingerprint SET STATISTICS 0,
    ALTER answer SET STATISTICS 0;
ALTER TABLE identity_names ALTER name TYPE text;
ALTER TABLE identity_names ALTER name SET STATISTICS 0;
ALTER TABLE conflict_reviews ALTER note TYPE text;
ALTER TABLE conflict_reviews ALTER note SET STATISTICS 0;
