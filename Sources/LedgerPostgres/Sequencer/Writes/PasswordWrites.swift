import Cryptography
import Ledger
import LedgerEngine
import Postgres

/// The writes of passwords that identities got, or lost with their links.
enum PasswordWrites {
    // The account stays the one to which the identity was linked.
    private static let upsert = RowsStatement(
        "store_passwords",
        [
            "tenant_id": "text", "identity_id": "uuid", "account_id": "uuid", "version": "bigint",
            "sealed": "bytea", "wrapping_key": "text", "mac": "bytea",
        ]
    ) { rows in
        """
        INSERT INTO credentials (tenant_id, identity_id, account_id, version, sealed, wrapping_key,
            mac)
        SELECT * FROM \(rows)
        ON CONFLICT (tenant_id, identity_id) DO UPDATE
        SET version = excluded.version, sealed = excluded.sealed,
            wrapping_key = excluded.wrapping_key, mac = excluded.mac
        """
    }

    private static let delete = Statement(
        "delete_password", "DELETE FROM credentials WHERE tenant_id = $1 AND identity_id = $2")

    // The names that people gave to passkeys go with the link.
    private static let unname = Statement(
        "delete_identity_name",
        "DELETE FROM identity_names WHERE tenant_id = $1 AND identity_id = $2")

    private static let endChallenges = Statement(
        "end_challenges",
        "DELETE FROM challenges WHERE tenant_id = $1 AND digest = $2")

    // An account that has only claimed an address, or had it formerly, must not end the codes of the person who
    // proves it.
    private static let endChallengesOfAccounts = Statement(
        "end_challenges_of_accounts",
        """
        DELETE FROM challenges c
        USING unnest($2::uuid[]) AS k (account_id)
        CROSS JOIN LATERAL (
            SELECT digest FROM addresses
            WHERE tenant_id = $1 AND account_id = k.account_id AND NOT claimed
                AND former_of IS NULL
            OFFSET 0) d
        CROSS JOIN LATERAL (
            SELECT ctid FROM challenges
            WHERE tenant_id = $1 AND digest = d.digest
            OFFSET 0) place
        WHERE c.tenant_id = $1 AND c.ctid = place.ctid
        """)

    /// Deletes passwords and challenges before new ones are written, and ends device tokens.
    static func ends(in batches: [TenantBatch], at now: Timestamp) -> [Call] {
        batches.flatMap { batch -> [Call] in
            let tenant = Parameter.text(batch.tenant.description)
            let (lost, ended) = (batch.changes.passwordsLost, batch.changes.challengesEnded)
            let accounts = batch.changes.challengesEndedOf
            let devices = batch.changes.devicesEndedOf
            return lost.flatMap { identity in
                [delete, unname].map { Call($0, [tenant, .uuid(identity.bits)]) }
            }
                + ended.map { Call(endChallenges, [tenant, .bytes($0.digest.bytes)]) }
                + (accounts.isEmpty
                    ? [] : [Call(endChallengesOfAccounts, [tenant, .uuids(accounts.map(\.bits))])])
                + (devices.isEmpty
                    ? [] : [DeviceEnds.ending(of: devices, in: batch.tenant, at: now)])
        }
    }

    /// Writes the passwords that identities got and still have.
    ///
    /// - Throws: `BatchFault.damaged` if no key encrypts or authenticates a row.
    static func stores(
        in batches: [TenantBatch], keyring: WrappingKeyring
    ) throws(BatchFault) -> [Call] {
        var tenants: [String] = []
        var versions: [PasswordVersion] = []
        var accounts: [UInt128] = []
        var sealedHashes: [[UInt8]] = []
        var wrappingKeys: [String] = []
        var macs: [[UInt8]] = []
        let sealer = AESGCMSealer()
        for batch in batches {
            for (identity, password) in batch.changes.passwordsStored {
                guard let position = batch.state.ledger.passwords[identity],
                    let account = batch.state.ledger.identities[identity]?.lastAccount
                else { continue }
                let version = PasswordVersion(identity: identity, version: position)
                guard
                    let sealed = keyring.seal(
                        password, of: version, in: batch.tenant, by: sealer)
                else { throw .damaged("the wrapping key") }
                macs.append(
                    try batch.macs.mac(
                        of: .password(
                            version, sealed.wrapped, sealed.wrappingKey, of: batch.tenant)))
                tenants.append(batch.tenant.description)
                versions.append(version)
                accounts.append(account.bits)
                sealedHashes.append(sealed.wrapped)
                wrappingKeys.append(sealed.wrappingKey)
            }
        }
        guard !versions.isEmpty else { return [] }
        return [
            upsert.call(
                rows: versions.count,
                [
                    .texts(tenants), .uuids(versions.map(\.identity.bits)), .uuids(accounts),
                    .int8s(versions.map(\.version.value)), .byteArrays(sealedHashes),
                    .texts(wrappingKeys), .byteArrays(macs),
                ])
        ]
    }
}
