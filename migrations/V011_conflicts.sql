-- The read model of conflicts.
SELECT 1;
