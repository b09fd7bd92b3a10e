import CommandLine
import Ledger
import LedgerEngine

/// Shared parts of the commands that print personal data: they require a reason, and record it in the
/// access log first.
struct DisclosureOptions: Sendable {
    static let option = Syntax.Option(
        name: "disclose", meaning: "include personal data; requires LEDGER_KEYS and --reason")

    static let reasonOption = Syntax.Option(
        name: "reason", placeholder: "TEXT", meaning: "reason, for the access log")

    /// The keys that decrypt the disclosures.
    let keyring: WrappingKeyring
    private let reason: String

    /// Reads `--disclose` and `--reason`; nil without them.
    ///
    /// - Throws: `UsageError` for one without the other, `Fault` when there are no keys.
    init?(_ arguments: Arguments, _ environment: Environment) throws {
        let reason = try AdministeredCommand.optionalReason(arguments)
        guard arguments.has("disclose") == (reason != nil) else {
            throw arguments.usageError("--disclose and --reason require each other")
        }
        guard let reason else { return nil }
        guard let keyring = try LedgerCommands.keyring(environment) else {
            throw Fault("\(Setting.keys.name) is not set: --disclose requires it to decrypt")
        }
        self.reason = reason
        self.keyring = keyring
    }

    /// Records a disclosure in the access log before it is printed.
    ///
    /// - Throws: `Fault` when the access log can't be written; then nothing may be printed.
    func record(
        _ action: AccessAction, account: AccountID? = nil, details: [String: String?],
        in tenant: TenantID, url: String
    ) async throws(Fault) {
        var access = AccessRecord(by: nil, action)
        access.account = account
        access.details = details.compactMapValues(\.self)
        access.isDisclosed = true
        access.reason = reason
        do {
            try await AdministeredCommand(url: url, tenant: tenant).record(access)
        } catch {
            throw Fault("nothing was disclosed: \(error)")
        }
    }
}
