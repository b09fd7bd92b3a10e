package import Ledger
package import LedgerEngine

extension Sealer {
    /// Creates a sealer on Postgres, which works once ``run()`` is called.
    ///
    /// - Parameters:
    ///   - url: the URL of a login that may seal.
    ///   - configuration: the limits.
    ///   - record: the record outside the database.
    ///   - macs: the keys that authenticate events; without any, a forged event is signed like others.
    ///   - onFault: called with one line, free of personal data, when the database can't be reached; must not
    ///     block.
    ///   - onRefusal: called when a log differs from what was signed; must not block.
    package convenience init(
        url: String, configuration: SealerConfiguration = SealerConfiguration(),
        record: any SealerRecord, macs: MACKeys?,
        onFault: @escaping @Sendable (String) -> Void = { _ in },
        onRefusal: @escaping @Sendable (TenantID, SealingRefusal) -> Void = { _, _ in }
    ) {
        self.init(
            configuration: configuration, record: record,
            store: PostgresSealerStore(
                url: url, applicationName: LockHolderName.sealer.rawValue, macs: macs),
            auditStore: PostgresSealerStore(
                url: url, applicationName: "account-ledger sealer audit", macs: macs),
            onFault: onFault, onRefusal: onRefusal)
    }
}
