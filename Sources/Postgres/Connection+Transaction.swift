extension Connection {
    /// Runs a body inside a transaction: commits when it returns, rolls back when it throws.
    ///
    /// A rollback that fails closes the connection, which has the same effect.
    ///
    /// - Parameters:
    ///   - begin: The statement that opens it, to ask for an isolation level.
    ///   - body: What is done inside.
    /// - Returns: What the body returned.
    /// - Throws: What the body threw, as it is. An error of the commit is `.server` (certainly not
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

    /// Ends whatever transaction is open without committing it; closes the connection if that
    /// fails.
    package func rollBack() {
        guard isInTransaction else { return }
        do {
            _ = try query(.rollback)
        } catch {
            close()
        }
    }
}
