extension Connection {
    /// Runs a body inside a transaction: commits when it returns, rolls back when it throws.
    ///
    /// A failed rollback closes the connection, which has the same effect.
    ///
    /// - Parameters:
    ///   - begin: The statement that opens the transaction, for example to request an isolation level.
    ///   - body: The work inside the transaction.
    /// - Returns: The result of the body.
    /// - Throws: The body's error, unchanged. An error of the commit is `.server` (certainly not
    ///   committed), `.connectionLost` or `.timedOut` (unknown).
    package func transaction<Value>(
        _ begin: Statement = .begin, _ body: () throws -> Value
    ) throws -> Value {
        guard !isInTransaction else {
            throw PostgresError.unexpectedResult("a transaction is open already")
        }
        _ = try query(begin)
        let value: Value
        do {
            value = try body()
        } catch {
            rollBack()
            throw error
        }
        do {
            _ = try query(.commit)
        } catch {
            rollBack()
            throw error
        }
        return value
    }

    /// Ends any open transaction without committing it; closes the connection if that fails.
    package func rollBack() {
        guard isInTransaction else { return }
        do {
            _ = try query(.rollback)
        } catch {
            close()
        }
    }
}
