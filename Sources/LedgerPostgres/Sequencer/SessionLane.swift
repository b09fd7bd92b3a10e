import Ledger
import LedgerEngine
import Postgres
import Synchronization

/// Requests that wait for one connection: one for all tenants, on Citus one for those of each node.
struct SessionLane<Element: Sendable>: Sendable {
    let queue: BatchQueue<Element>
    let session: Postgres.Session
    /// Whether the connection reaches Citus, as found when it was opened.
    private let isSharded = SharedFlag()

    /// Configures a lane; does not connect yet.
    init(url: String, named name: String, queueLimit: Int) {
        queue = BatchQueue(limit: queueLimit)
        session = Postgres.Session(
            url: url, applicationName: name, connectTimeout: .seconds(2),
            runDeadline: AnswerTime.transactionMax
        ) { [isSharded] in
            try $0.execute(PostgresBatchStore.settings)
            isSharded.set(try DatabaseEngine(of: $0) == .citus)
        }
    }

    /// Returns the requests of each tenant on Citus, so that a failure is one of theirs; nil for a batch that is answered
    /// as a whole.
    func parts(
        of batch: [Queued<Element>], by tenant: (Element) -> TenantID
    ) -> [BatchQueue<Element>.Dequeued]? {
        guard isSharded.value else { return nil }
        let parts = Dictionary(grouping: batch) { tenant($0.element) }
        return parts.count > 1 ? parts.values.map(queue.separatingLate) : nil
    }

    /// Runs a body on the connection; on Citus it notes the node of the tenant first.
    ///
    /// - Throws: The error of the body, `PostgresError`.
    func run<Value: Sendable>(
        of tenant: TenantID?, noting nodes: TenantNodes?,
        _ body: @Sendable (Connection) throws -> Value
    ) async throws -> Value {
        try await session.run { [isSharded] connection in
            if let tenant, isSharded.value { try nodes?.learn(tenant, on: connection) }
            return try body(connection)
        }
    }
}

/// A flag that several threads read.
final class SharedFlag: Sendable {
    private let flag = Atomic(false)

    var value: Bool { flag.load(ordering: .relaxed) }

    func set(_ value: Bool) {
        flag.store(value, ordering: .relaxed)
    }
}
