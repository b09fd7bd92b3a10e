import Cryptography
package import Ledger
import Postgres

/// Finds and removes the second factors whose planned removal is due.
package final class DueRemovals: Sendable {
    /// A factor to remove.
    package struct Removal: Sendable {
        package let tenant: TenantID
        package let account: AccountID
        package let factor: FactorID
        package let due: Timestamp
    }

    private let session: Postgres.Session
    private let pageSize: Int64

    /// Creates a finder.
    ///
    /// - Parameters:
    ///   - url: The runtime role's URL.
    ///   - pageSize: The maximum number of factors of one search.
    package init(url: String, pageSize: Int64 = 1_000) {
        self.pageSize = pageSize
        session = Postgres.Session(
            url: url, applicationName: "account-ledger removals", statementDeadline: .seconds(30)
        ) { try $0.execute(ConnectionSettings.lookups) }
    }

    /// Removes the factors that are due at a time.
    ///
    /// One that can't be removed holds up no other.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - commands: Executes the removals.
    ///   - onRemoval: Called after each removal.
    ///   - onFault: Called with each failure.
    package func removeAll(
        at now: Timestamp, by commands: any CommandQueue, onRemoval: (Removal) -> Void,
        onFault: (any Error) -> Void
    ) async {
        var last: Removal?
        repeat {
            let page: [Removal]
            do { page = try await find(at: now, after: last) } catch { return onFault(error) }
            for removal in page where !Task.isCancelled {
                let command = Command(
                    id: CommandID(at: now, random: SecureRandom.uint128()),
                    tenant: removal.tenant,
                    origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil),
                    intent: .removeFactor(
                        RemoveFactor(removal.factor, by: .planned(removal.account))))
                do {
                    // A refused one was stopped meanwhile, or its account was disabled.
                    if case .success = try await commands.submit(command) { onRemoval(removal) }
                } catch {
                    onFault(error)
                }
            }
            last = page.last
        } while last != nil && !Task.isCancelled
    }

    /// Returns a page of the factors that are due at a time, in the order of their due time.
    ///
    /// - Throws: `PostgresError`.
    package func find(at now: Timestamp, after last: Removal? = nil) async throws -> [Removal] {
        try await session.run { connection in
            let result = try connection.query(
                AllTenants.dueRemovals,
                [
                    .timestamp(now.microseconds), .int8(pageSize),
                    .timestamp(last?.due.microseconds ?? 0), .uuid(last?.factor.bits ?? 0),
                ])
            return try (0..<result.rowCount).compactMap { row in
                // `verify` reports a row with an invalid tenant.
                guard let tenant = TenantID(try result.text(row, result.column("tenant_id")))
                else { return nil }
                return Removal(
                    tenant: tenant,
                    account: AccountID(bits: try result.uuid(row, result.column("account_id"))),
                    factor: FactorID(bits: try result.uuid(row, result.column("factor_id"))),
                    due: Timestamp(
                        microseconds: try result.timestamp(row, result.column("removal_due"))))
            }
        }
    }

    /// Closes the connection.
    package func close() async {
        await session.close()
    }
}
