import Ledger

/// Executes commands, but none of the tenants that were refused at the start.
struct ServedTenants: CommandQueue {
    let queue: any CommandQueue
    let refused: Set<TenantID>

    func submit(_ command: Command) async throws(LedgerFault) -> Result<Reply, Refusal> {
        // The log says why.
        guard !refused.contains(command.tenant) else { throw .unavailable }
        return try await queue.submit(command)
    }
}
