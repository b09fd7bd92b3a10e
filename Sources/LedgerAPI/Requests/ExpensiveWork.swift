internal import BlockingCalls
internal import Ledger

extension BlockingPool {
    /// Admits a request to expensive work, before anything is looked up for it.
    ///
    /// - Throws: 503 with `Retry-After` when as many requests as may be are admitted already.
    func admitRequest() throws(APIError) -> Admission {
        do {
            return try admit()
        } catch {
            throw .faulted(.overloaded)
        }
    }
}
