-- Decision state: the second factors of accounts, and their recovery codes. The secret of an authenticator app, a phone
-- number, or the digests of the codes are encrypted under `wrapping_key`.
CREATE TABLE factors (
    tenant_id text COLLATE "C" NOT NULL,
    factor_id uuid NOT NULL,
    account_id uuid NOT NULL,
    kind text COLLATE "C" NOT NULL CHECK (kind IN ('totp', 'phone', 'passkey', 'recovery_codes')),
    -- The position of the SecondFactorEnrolled.
    version bigint NOT NULL,
    sealed bytea NOT NULL,
    wrapping_key text COLLATE "C" NOT NULL,
    -- The last time step of an authenticator app, or the used recovery codes: bit n for code n.
    counter bigint NOT NULL,
    -- When it is removed, because support planned it.
    removal_due timestamptz,
    mac bytea,
    PRIMARY KEY (tenant_id, factor_id)
);
CREATE INDEX factors_by_account ON factors (account_id, tenant_id);
CREATE INDEX factors_due ON factors (removal_due) WHERE removal_due IS NOT NULL;
CREATE TRIGGER factors_no_truncate BEFORE TRUNCATE ON factors
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
ALTER TABLE factors ENABLE ALWAYS TRIGGER factors_no_truncate;

-- The factors that the account's sign-ins need, without recovery codes, in the order of their enrolment; NULL for none.
ALTER TABLE accounts ADD COLUMN second_factors uuid[];
