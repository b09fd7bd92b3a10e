import Ledger
import LedgerEngine
import Postgres

/// The writes of second factors that accounts got, used or lost.
enum FactorWrites {
    private static let insert = Statement(
        "store_factor",
        """
        INSERT INTO factors (tenant_id, factor_id, account_id, kind, version, sealed, wrapping_key,
            counter, mac, removal_due, credential, domain)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
        """)

    private static let update = Statement(
        "use_factor",
        """
        WITH written AS (
            UPDATE factors SET counter = $3, mac = $4, removal_due = $5, sealed = $6,
                wrapping_key = $7
            WHERE tenant_id = $1 AND factor_id = $2
            RETURNING 1)
        SELECT ledger_expect(count(*), 1, 'factors') FROM written
        """)

    private static let delete = Statement(
        "delete_factor", "DELETE FROM factors WHERE tenant_id = $1 AND factor_id = $2")

    private static let setFactors = Statement(
        "set_second_factors",
        """
        WITH written AS (
            UPDATE accounts SET second_factors = nullif($3::uuid[], '{}')
            WHERE tenant_id = $1::text AND account_id = $2::uuid
            RETURNING 1)
        SELECT ledger_expect(count(*), 1, 'second factors') FROM written
        """)

    /// Writes the state of factors at the end of a batch.
    ///
    /// A factor that changes is encrypted again: its MAC covers the ciphertext, and `keys rewrap`, which waits for no
    /// batch, may replace that between the load and the write.
    ///
    /// - Throws: `BatchFault.damaged` if no key encrypts or authenticates a row.
    static func calls(
        for batches: [TenantBatch], keyring: WrappingKeyring
    ) throws(BatchFault) -> [Call] {
        var calls: [Call] = []
        for batch in batches {
            let changes = batch.changes
            let tenant = Parameter.text(batch.tenant.description)
            for id in changes.factorsRemoved {
                calls.append(Call(delete, [tenant, .uuid(id.bits)]))
            }
            for (id, new) in changes.factorsStored {
                guard let factor = batch.state.ledger.factors[id] else { continue }
                guard let sealed = keyring.seal(secret: new.secret, of: factor, in: batch.tenant)
                else { throw .damaged("the wrapping key") }
                let counter = batch.state.factorCounters[id] ?? new.counter
                let mac = try batch.macs.mac(
                    of: .factor(
                        factor, sealed.wrapped, sealed.wrappingKey, counter: counter,
                        key: new.key, of: batch.tenant))
                calls.append(
                    Call(
                        insert,
                        [
                            tenant, .uuid(id.bits), .uuid(factor.account.bits),
                            .text(factor.kind.rawValue), .int8(factor.position.value),
                            .bytes(sealed.wrapped), .text(sealed.wrappingKey), .int8(counter),
                            .bytes(mac),
                            factor.removalDue.map { .timestamp($0.microseconds) } ?? .null,
                            new.key.map { .text($0.providerID) } ?? .null,
                            new.key.map { .text($0.domain) } ?? .null,
                        ]))
            }
            for id in changes.factorsUsed where changes.factorsStored[id] == nil {
                guard let factor = batch.state.ledger.factors[id],
                    let counter = batch.state.factorCounters[id],
                    let secret = batch.factorSecrets[id]
                else { continue }
                guard
                    let opened = keyring.openSecret(
                        secret.wrapped, wrappingKey: secret.wrappingKey, of: factor,
                        in: batch.tenant),
                    let sealed = keyring.seal(secret: opened, of: factor, in: batch.tenant)
                else { throw .damaged("the wrapping key") }
                let mac = try batch.macs.mac(
                    of: .factor(
                        factor, sealed.wrapped, sealed.wrappingKey, counter: counter,
                        key: batch.state.factorKeys[id], of: batch.tenant))
                calls.append(
                    Call(
                        update,
                        [
                            tenant, .uuid(id.bits), .int8(counter), .bytes(mac),
                            factor.removalDue.map { .timestamp($0.microseconds) } ?? .null,
                            .bytes(sealed.wrapped), .text(sealed.wrappingKey),
                        ]))
            }
            for id in changes.accountsFactored {
                guard let account = batch.state.ledger.accounts[id],
                    account.erasedPosition == nil
                else { continue }
                calls.append(
                    Call(
                        setFactors,
                        [tenant, .uuid(id.bits), .uuids(account.secondFactors.map(\.bits))]))
            }
        }
        return calls
    }
}
