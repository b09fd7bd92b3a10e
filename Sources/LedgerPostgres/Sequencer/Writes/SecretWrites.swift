import Cryptography
import Ledger
import LedgerEngine
import Postgres

/// The encrypted disclosures of a batch, and the keys of the accounts that it opened.
struct SecretWrites {
    private static let insertDisclosures = RowsStatement(
        "insert_disclosures",
        ["tenant_id": "text", "position": "bigint", "account_id": "uuid", "ciphertext": "bytea"]
    ) { rows in
        """
        INSERT INTO disclosures (tenant_id, position, account_id, ciphertext)
        SELECT * FROM \(rows)
        """
    }

    private static let insertKeys = RowsStatement(
        "insert_account_keys",
        ["tenant_id": "text", "account_id": "uuid", "wrapping_key": "text", "wrapped_key": "bytea"]
    ) { rows in
        """
        INSERT INTO account_keys (tenant_id, account_id, wrapping_key, wrapped_key)
        SELECT * FROM \(rows)
        """
    }

    private let keyring: WrappingKeyring
    private let sealer = AESGCMSealer()
    private var tenants: [String] = []
    private var positions: [Int64] = []
    private var accounts: [UInt128] = []
    private var ciphertexts: [[UInt8]] = []
    private var keyTenants: [String] = []
    private var keyAccounts: [UInt128] = []
    private var wrappingKeys: [String] = []
    private var wrappedKeys: [[UInt8]] = []

    init(keyring: WrappingKeyring) {
        self.keyring = keyring
    }

    /// Encrypts the disclosures of one tenant's batch.
    ///
    /// - Throws: `BatchFault.damaged` if a live account has no readable key: a disclosure is never
    ///   dropped silently, and never written with another key.
    mutating func add(_ batch: TenantBatch) throws(BatchFault) {
        let opened = batch.changes.accountsTouched.filter {
            batch.changes.accountsOpened.contains($0)
        }
        for (id, key) in zip(opened, AccountKey.generate(opened.count)) {
            guard
                let wrapped = keyring.wrap(key, tenant: batch.tenant, account: id, by: sealer)
            else { throw .damaged("the wrapping key") }
            batch.keys.add(key, of: id)
            keyTenants.append(batch.tenant.description)
            keyAccounts.append(id.bits)
            wrappingKeys.append(wrapped.wrappingKey)
            wrappedKeys.append(wrapped.wrapped)
        }
        for recording in batch.recordings where !recording.disclosures.isEmpty {
            guard let about = recording.recorded.accounts.first?.id,
                let key = batch.keys[about]
            else { throw .damaged("the key of an account") }
            let position = recording.recorded.position
            tenants.append(batch.tenant.description)
            positions.append(position.value)
            accounts.append(about.bits)
            ciphertexts.append(
                key.seal(
                    recording.disclosures, tenant: batch.tenant, position: position, account: about,
                    by: sealer))
        }
    }

    var calls: [Call] {
        var calls: [Call] = []
        if !keyAccounts.isEmpty {
            calls.append(
                Self.insertKeys.call(
                    rows: keyAccounts.count,
                    [
                        .texts(keyTenants), .uuids(keyAccounts), .texts(wrappingKeys),
                        .byteArrays(wrappedKeys),
                    ]))
        }
        if !positions.isEmpty {
            calls.append(
                Self.insertDisclosures.call(
                    rows: positions.count,
                    [
                        .texts(tenants), .int8s(positions), .uuids(accounts),
                        .byteArrays(ciphertexts),
                    ]))
        }
        return calls
    }
}
