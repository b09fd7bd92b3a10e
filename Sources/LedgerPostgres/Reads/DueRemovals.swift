import Cryptography
package import Ledger
import Postgres

/// Finds and executes the removals that support planned and that are due, of second factors and of identities.
package final class DueRemovals: Sendable {
    /// The kind of a removal.
    package enum Kind: Sendable, CaseIterable {
        case factor
        case identity

        fileprivate var statement: Statement {
            switch self {
            case .factor: AllTenants.dueRemovals
            case .identity: AllTenants.dueUnlinks
            }
        }

        /// The columns of the object's id and of the time.
        fileprivate var columns: (id: String, due: String) {
            switch self {
            case .factor: (id: "factor_id", due: "removal_due")
            case .identity: (id: "identity_id", due: "unlink_due")
            }
        }
    }

    /// A factor to remove, or an identity to unlink.
    package struct Removal: Sendable {
        package let kind: Kind
        package let tenant: TenantID
        package let account: AccountID
        /// The id of the factor or the identity.
        package let id: UInt128
        package let due: Timestamp

        /// The command that removes it.
        package var intent: Command.Intent {
            switch kind {
            case .factor:
                .removeFactor(RemoveFactor(FactorID(bits: id), by: .planned(account)))
            case .identity:
                .endUnlinkPlan(EndUnlinkPlan(of: IdentityID(bits: id), .due(account)))
            }
        }
    }

    private let session: Postgres.Session
    private let pageSize: Int64

    /// Creates a finder.
    ///
    /// - Parameters:
    ///   - url: The runtime role's URL.
    ///   - pageSize: The maximum number of removals of one search.
    package init(url: String, pageSize: Int64 = 1_000) {
        self.pageSize = pageSize
        session = Postgres.Session(
            url: url, applicationName: "account-ledger removals", statementDeadline: .seconds(30)
        ) {
            try $0.execute(ConnectionSettings.oneConnectionPerNode + ConnectionSettings.lookups)
        }
    }

    /// Executes the removals that are due at a time.
    ///
    /// One that can't be executed holds up no other.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - commands: Executes the removals.
    ///   - onRemoval: Called after each removal, with its reply.
    ///   - onFault: Called with each failure.
    package func removeAll(
        at now: Timestamp, by commands: any CommandQueue, onRemoval: (Removal, Reply) -> Void,
        onFault: (any Error) -> Void
    ) async {
        for kind in Kind.allCases {
            var last: Removal?
            repeat {
                let page: [Removal]
                do {
                    page = try await find(kind, at: now, after: last)
                } catch {
                    onFault(error)
                    break
                }
                for removal in page where !Task.isCancelled {
                    let command = Command(
                        id: CommandID(at: now, random: SecureRandom.uint128()),
                        tenant: removal.tenant,
                        origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil),
                        intent: removal.intent)
                    do {
                        // A refused one was stopped meanwhile, or its account was disabled.
                        if case .success(let reply) = try await commands.submit(command) {
                            onRemoval(removal, reply)
                        }
                    } catch {
                        onFault(error)
                    }
                }
                last = page.last
            } while last != nil && !Task.isCancelled
        }
    }

    /// Returns a page of the removals that are due at a time, in the order of their due time.
    ///
    /// - Throws: `PostgresError`.
    package func find(
        _ kind: Kind, at now: Timestamp, after last: Removal? = nil
    ) async throws -> [Removal] {
        let columns = kind.columns
        return try await session.run { connection in
            let result = try connection.query(
                kind.statement,
                [
                    .timestamp(now.microseconds), .int8(pageSize),
                    .timestamp(last?.due.microseconds ?? 0), .uuid(last?.id ?? 0),
                ])
            return try (0..<result.rowCount).compactMap { row in
                // `verify` reports a row with an invalid tenant.
                guard let tenant = TenantID(try result.text(row, result.column("tenant_id")))
                else { return nil }
                let account = AccountID(bits: try result.uuid(row, result.column("account_id")))
                return Removal(
                    kind: kind, tenant: tenant,
                    account: kind == .factor
                        ? try MergedAccounts.survivor(of: account, in: tenant, on: connection)
                        : account,
                    id: try result.uuid(row, result.column(columns.id)),
                    due: Timestamp(
                        microseconds: try result.timestamp(row, result.column(columns.due))))
            }
        }
    }

    /// Closes the connection.
    package func close() async {
        await session.close()
    }
}
