import Cryptography
import Ledger
import LedgerEngine

/// Begins a tenant's log with an event that records its mode and its keys.
enum TenantOpening {
    static func open(
        _ tenant: TenantID, mode: LedgerOpened.Mode, keys: Keys, on queue: some CommandQueue
    ) async -> Result<Void, LedgerFault> {
        let fact = LedgerOpened(
            mode: mode, encryptionKey: keys.announcedEncryptionID,
            macKey: keys.wrapping.macs.current?.id.description, tokenKey: keys.announcedTokenID)
        let command = Command(
            id: CommandID(at: .now, random: SecureRandom.uint128()), tenant: tenant,
            origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil),
            intent: .openLedger(OpenLedger(fact)))
        do throws(LedgerFault) {
            _ = try await queue.submit(command)
            return .success(())
        } catch {
            return .failure(error)
        }
    }
}
