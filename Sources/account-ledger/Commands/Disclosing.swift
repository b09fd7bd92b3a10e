import Ledger
import LedgerPostgres

/// What the commands have in common that show personal data: never without a reason, and never before
/// the access log has it.
struct Disclosing: Sendable {
    static let option = Syntax.Option(
        name: "disclose", meaning: "with personal data; needs LEDGER_KEYS and --reason")

    static let reasonOption = Syntax.Option(
        name: "reason", placeholder: "TEXT", meaning: "why; kept in the access log")

    /// Decrypts what is shown.
    let keyring: WrappingKeyring
    private let reason: String

    /// Reads `--disclose` and `--reason`; nil without them.
    ///
    /// - Throws: `UsageError` for one without the other, `Fault` when there are no keys.
    init?(_ arguments: Arguments, _ environment: Environment) throws {
        let reason = try AdministeredCommand.optionalReason(arguments)
        guard arguments.has("disclose") == (reason != nil) else {
            throw arguments.misuse("--disclose and --reason go together")
        }
        guard let reason else { return nil }
        guard let keyring = try LedgerReading.keyring(environment) else {
            throw Fault("\(Setting.keys.name) is not set: --disclose has to decrypt")
        }
        self.reason = reason
        self.keyring = keyring
    }

    /// Writes down what is about to be shown.
    ///
    /// - Throws: `Fault` when it cannot be written down; nothing may be shown then.
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
            throw Fault("nothing is shown: \(error)")
        }
    }
}
