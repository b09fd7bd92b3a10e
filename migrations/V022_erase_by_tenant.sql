-- The function that erases accounts takes one tenant, first: functions.sql creates it.
DROP FUNCTION IF EXISTS public.ledger_erase_accounts(text[], uuid[], bigint[]);
