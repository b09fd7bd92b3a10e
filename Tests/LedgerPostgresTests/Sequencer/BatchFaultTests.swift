import LedgerEngine
import Postgres
import Testing

@testable import LedgerPostgres

/// The errors of Postgres that one command may have caused, so that its batch is split.
struct BatchFaultTests {
    @Test(arguments: [false, true])
    func `an internal error may be one command's on Postgres alone, and a lost worker's on Citus`(
        isSharded: Bool
    ) {
        #expect(Self.isOfOneCommand(.internalError, onCitus: isSharded) == !isSharded)
    }

    @Test(arguments: ["08006", "40001", "53100", "57P02", "55P03", "42P01"])
    func `an outage is no command's`(code: String) {
        #expect(Self.isOfOneCommand(SQLState(rawValue: code)) == false)
    }

    @Test(arguments: ["23505", "22000", "42501"])
    func `a refused row may be one command's`(code: String) {
        for isSharded in [false, true] {
            #expect(Self.isOfOneCommand(SQLState(rawValue: code), onCitus: isSharded) == true)
        }
    }

    private static func isOfOneCommand(_ state: SQLState, onCitus isSharded: Bool = false) -> Bool?
    {
        let error = ServerError(state: state, severity: "ERROR", message: "refused")
        guard case .store(_, let isOfOneCommand) = BatchFault(.server(error), onCitus: isSharded)
        else { return nil }
        return isOfOneCommand
    }
}
