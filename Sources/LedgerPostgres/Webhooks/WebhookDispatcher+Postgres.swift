package import LedgerEngine

extension WebhookDispatcher {
    /// Creates a dispatcher on Postgres, which works once ``run()`` is called.
    ///
    /// - Parameters:
    ///   - url: the runtime role's URL.
    ///   - configuration: the sender and the limits.
    ///   - keyring: unwraps the endpoints' secrets.
    ///   - onFault: called with one line, free of personal data, for each failure of the database; must not
    ///     block.
    package convenience init(
        url: String, configuration: WebhookConfiguration, keyring: WrappingKeyring,
        onFault: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.init(
            configuration: configuration,
            store: PostgresDispatcherStore(
                url: url, keyring: keyring, leaseSeconds: configuration.leaseSeconds),
            onFault: onFault)
    }
}
