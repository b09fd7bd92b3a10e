import Ledger
import Postgres

/// Folds a tenant's log from position 0 into another table than the live one.
struct Refold {
    private let projection: any Projection
    private let tenant: TenantID
    private let disclosures: DisclosureReader
    /// The next position to fold.
    private(set) var position = LogPosition(0)

    init(
        _ table: RefoldTable, of name: ProjectionName, in tenant: TenantID,
        with disclosures: DisclosureReader
    ) {
        projection = name.projection(table: table.name)
        self.tenant = tenant
        self.disclosures = disclosures
    }

    /// Folds up to a position, each page in a transaction of its own.
    ///
    /// - Returns: the event that cannot be folded; everything before it is.
    mutating func advance(
        to target: LogPosition, on connection: Connection
    ) throws(PostgresError) -> LogDamage? {
        var limit = LogReader.pageMax
        while position < target {
            do throws(PostgresError) {
                _ = try connection.query(.begin)
                let start = position
                let damage = try foldPage(to: target, limit: limit, on: connection)
                do throws(PostgresError) {
                    _ = try connection.query(.commit)
                } catch {
                    position = start
                    throw error
                }
                if let damage { return damage }
                limit = LogReader.pageMax
            } catch {
                guard case .ofThePage(let fault) = WriteFault(error) else { throw error }
                connection.rollBack()
                if limit == 1 { return LogDamage(position: position, fault: fault) }
                limit /= 2
            }
        }
        return nil
    }

    /// Folds up to a position inside the transaction that is open.
    mutating func advanceInTransaction(
        to target: LogPosition, on connection: Connection
    ) throws(PostgresError) -> LogDamage? {
        while position < target {
            if let damage = try foldPage(to: target, limit: LogReader.pageMax, on: connection) {
                return damage
            }
        }
        return nil
    }

    private mutating func foldPage(
        to target: LogPosition, limit: Int, on connection: Connection
    ) throws(PostgresError) -> LogDamage? {
        let limit = Int(min(Int64(limit), target.value - position.value))
        let page = try LogPage.read(
            from: position, in: tenant, limit: limit, disclosures: disclosures, on: connection)
        let loads = projection.loads(for: page.events[...], in: tenant)
        let loaded = try connection.pipeline(loads)
        let folded = try projection.fold(page.events[...], onto: loaded, in: tenant)
        _ = try connection.pipeline(folded.calls)
        position = folded.fault?.position ?? page.end
        return folded.fault ?? page.damage
    }
}
