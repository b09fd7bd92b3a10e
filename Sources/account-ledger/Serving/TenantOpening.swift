import Cryptography
import Ledger
import LedgerEngine

/// Begins a tenant's log with an event that records its mode and its keys.
enum TenantOpening {
    /// Opens a tenant, and records the pepper that its passwords are hashed with, if there is one.
    ///
    /// After an interruption in between, a repetition records the pepper.
    static func open(
        _ tenant: TenantID, mode: LedgerOpened.Mode, keys: Keys, on queue: some CommandQueue
    ) async -> Result<Void, LedgerFault> {
        let fact = LedgerOpened(
            mode: mode, encryptionKey: keys.announcedEncryptionID,
            macKey: keys.wrapping.macs.current?.id.description, tokenKey: keys.announcedTokenID)
        let pepper = keys.announcedPepperID.map {
            KeyRotated(kind: .pepper, key: $0, former: KeyRotated.noFormerKey)
        }
        do throws(LedgerFault) {
            try await submit(.openLedger(OpenLedger(fact)), of: tenant, to: queue)
            if let pepper { try await submit(.rotateKey(RotateKey(pepper)), of: tenant, to: queue) }
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    private static func submit(
        _ intent: Command.Intent, of tenant: TenantID, to queue: some CommandQueue
    ) async throws(LedgerFault) {
        _ = try await queue.submit(
            Command(
                id: CommandID(at: .now, random: SecureRandom.uint128()), tenant: tenant,
                origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil),
                intent: intent))
    }
}
