-- Changes nothing but the version: a server of the former release reads neither the rules of a tenant with
-- anonymous accounts nor version 2 of ProviderUnlinked, and the version keeps it out.
DO 'BEGIN END';
