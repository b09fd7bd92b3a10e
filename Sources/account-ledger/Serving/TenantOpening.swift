import Cryptography
import Ledger
import LedgerEngine

/// Begins a tenant's log with an event that records its mode and its keys.
enum TenantOpening {
    /// Opens a tenant; the log names the pepper that its passwords are hashed with, if there is one.
    static func open(
        _ tenant: TenantID, mode: LedgerOpened.Mode, keys: Keys, on queue: some CommandQueue
    ) async -> Result<Void, LedgerFault> {
        let fact = LedgerOpened(
            mode: mode, encryptionKey: keys.announcedEncryptionID,
            macKey: keys.wrapping.macs.current?.id.description, tokenKey: keys.announcedTokenID)
        let pepper = keys.announcedPepperID.map(naming)
        return await submit(.openLedger(OpenLedger(fact, pepper: pepper)), of: tenant, to: queue)
    }

    /// Records a pepper in a log that names none.
    static func record(
        pepper: String, of tenant: TenantID, on queue: some CommandQueue
    ) async -> Result<Void, LedgerFault> {
        await submit(.rotateKey(RotateKey(naming(pepper))), of: tenant, to: queue)
    }

    private static func naming(_ pepper: String) -> KeyRotated {
        KeyRotated(kind: .pepper, key: pepper, former: KeyRotated.noFormerKey)
    }

    private static func submit(
        _ intent: Command.Intent, of tenant: TenantID, to queue: some CommandQueue
    ) async -> Result<Void, LedgerFault> {
        let command = Command(
            id: CommandID(at: .now, random: SecureRandom.uint128()), tenant: tenant,
            origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil), intent: intent)
        do throws(LedgerFault) {
            _ = try await queue.submit(command)
            return .success(())
        } catch {
            return .failure(error)
        }
    }
}
