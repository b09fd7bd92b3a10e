import Ledger
import LedgerPostgres
import Postgres

struct NoOutbox: CodeOutbox {
    struct Absent: Error {}
    func write(_: CodeMessage, for _: StoredChallenge, on _: Connection) throws { throw Absent() }
}
