package import Ledger
import LedgerEngine
package import Postgres

/// The requests for erasures that another administrator has to confirm.
///
/// They are read and written under the lock of the tenant's head, so that two calls of one person never count as two.
package enum ErasureRequestRows {
    /// The columns of a request in a statement where it has an alias, by their names.
    package struct Columns: Sendable {
        private static let names = [
            "account_id", "request_id", "principal", "plan", "basis", "reason", "asked_at",
            "expires_at",
        ]

        private let account, id, principal, plan, basis, reason, askedAt, expiresAt: Int

        /// Returns the columns for the list of the statement.
        package static func selected(_ r: String) -> SelectList {
            SelectList(names.map { "\(r).\($0)" })
        }

        /// Finds the columns of an alias in the list of a statement.
        package init(_ r: String, in list: SelectList) {
            account = list["\(r).account_id"]
            id = list["\(r).request_id"]
            principal = list["\(r).principal"]
            plan = list["\(r).plan"]
            basis = list["\(r).basis"]
            reason = list["\(r).reason"]
            askedAt = list["\(r).asked_at"]
            expiresAt = list["\(r).expires_at"]
        }

        /// Reads the request.
        ///
        /// - Throws: `BatchFault.damaged` for a value that no version of this program wrote.
        package func read(_ result: QueryResult, _ row: Int) throws -> ErasureRequest {
            // No other role asks for erasures.
            guard let asker = Principal.named(try result.text(row, principal), role: .admin) else {
                throw BatchFault.damaged("erasure_requests.principal")
            }
            guard let basis = AccountErased.Basis(rawValue: try result.text(row, basis)) else {
                throw BatchFault.damaged("erasure_requests.basis")
            }
            return ErasureRequest(
                id: ErasureRequestID(bits: try result.uuid(row, id)),
                account: AccountID(bits: try result.uuid(row, account)), asker: asker,
                plan: try result.digest(row, plan), basis: basis,
                reason: try result.text(row, reason),
                askedAt: Timestamp(microseconds: try result.timestamp(row, askedAt)),
                expiresAt: Timestamp(microseconds: try result.timestamp(row, expiresAt)))
        }
    }

    private static let list = Columns.selected("r") + ["r.mac"]
    private static let columns = Columns("r", in: list)
    private static let mac = list["r.mac"]

    private static let statement = Statement(
        "load_erasure_requests",
        """
        SELECT \(list.sql)
        FROM unnest($2::uuid[]) AS k (account_id)
        CROSS JOIN LATERAL (
            SELECT * FROM erasure_requests
            WHERE tenant_id = $1 AND account_id = k.account_id
            OFFSET 0) r
        """)

    private static let replace = Statement(
        "replace_erasure_request",
        """
        INSERT INTO erasure_requests (tenant_id, account_id, request_id, principal, plan, basis,
            reason, asked_at, expires_at, mac)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        ON CONFLICT (tenant_id, account_id) DO UPDATE
        SET request_id = excluded.request_id, principal = excluded.principal,
            plan = excluded.plan, basis = excluded.basis, reason = excluded.reason,
            asked_at = excluded.asked_at, expires_at = excluded.expires_at, mac = excluded.mac
        """)

    private static let delete = Statement(
        "delete_erasure_request",
        "DELETE FROM erasure_requests WHERE tenant_id = $1 AND account_id = $2")

    private static let deleteAll = Statement(
        "delete_erasure_requests", "DELETE FROM erasure_requests WHERE tenant_id = $1")

    private static let deleteOfAsker = Statement(
        "delete_erasure_requests_of",
        "DELETE FROM erasure_requests WHERE tenant_id = $1 AND principal = $2")

    /// Returns the call that ends every request of a tenant, as after a restore, which brings back withdrawn ones.
    package static func endingAll(of tenant: TenantID) -> Call {
        Call(deleteAll, [.text(tenant.description)])
    }

    /// Returns the call that ends the requests of an administrator, whose key was revoked.
    static func ending(askedBy asker: Principal, in tenant: TenantID) -> Call {
        Call(deleteOfAsker, [.text(tenant.description), .text(asker.description)])
    }

    private static let pages = Statement(
        "erasure_requests_page",
        """
        SELECT \(list.sql) FROM erasure_requests r
        WHERE r.tenant_id = $1 AND r.account_id > $2 AND r.expires_at > statement_timestamp()
        ORDER BY r.account_id LIMIT $3
        """)

    private static let one = Statement(
        "erasure_request",
        """
        SELECT \(list.sql) FROM erasure_requests r
        WHERE r.tenant_id = $1 AND r.account_id = $2 AND r.expires_at > statement_timestamp()
        """)

    /// Returns the requests for the next accounts; their MACs are checked when they are confirmed.
    static func page(
        _ tenant: TenantID, after account: AccountID?, limit: Int, on connection: Connection
    ) throws -> ErasureRequestPage {
        let rows = try connection.query(
            pages,
            [
                .text(tenant.description), .uuid(account?.bits ?? 0), .int8(Int64(limit) + 1),
            ])
        var requests: [ErasureRequest] = []
        for row in 0..<min(rows.rowCount, limit) { requests.append(try columns.read(rows, row)) }
        return ErasureRequestPage(requests: requests, hasMore: rows.rowCount > limit)
    }

    /// Returns the request for an account.
    static func request(
        for account: AccountID, in tenant: TenantID, on connection: Connection
    ) throws -> ErasureRequest? {
        let rows = try connection.query(one, [.text(tenant.description), .uuid(account.bits)])
        return rows.rowCount == 0 ? nil : try columns.read(rows, 0)
    }

    static func load(_ accounts: Set<AccountID>, of tenant: TenantID) -> Call {
        Call(statement, [.text(tenant.description), .uuids(accounts.map(\.bits))])
    }

    static func read(_ result: QueryResult, into batch: TenantBatch) throws {
        for row in 0..<result.rowCount {
            let request = try columns.read(result, row)
            try batch.check(
                try result.optionalBytes(row, mac),
                of: .erasureRequest(request, of: batch.tenant), in: .erasureRequests)
            batch.state.erasureRequests[request.account] = request
        }
    }

    /// - Throws: `BatchFault.damaged` if no key authenticates a row.
    static func calls(for batches: [TenantBatch]) throws(BatchFault) -> [Call] {
        var calls: [Call] = []
        for batch in batches {
            let tenant = Parameter.text(batch.tenant.description)
            for account in batch.changes.erasureRequests {
                guard let request = batch.state.erasureRequests[account] else {
                    calls.append(Call(delete, [tenant, .uuid(account.bits)]))
                    continue
                }
                let mac = try batch.macs.mac(of: .erasureRequest(request, of: batch.tenant))
                calls.append(
                    Call(
                        replace,
                        [
                            tenant, .uuid(account.bits), .uuid(request.id.bits),
                            .text(request.asker.description), .bytes(request.plan.bytes),
                            .text(request.basis.rawValue), .text(request.reason),
                            .timestamp(request.askedAt.microseconds),
                            .timestamp(request.expiresAt.microseconds), .bytes(mac),
                        ]))
            }
        }
        return calls
    }
}
