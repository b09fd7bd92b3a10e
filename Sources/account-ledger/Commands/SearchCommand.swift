import CommandLine
import Ledger
import LedgerAPI
import LedgerAudit
import LedgerEngine
import LedgerSignIn

/// `search`: finds accounts by an id, an e-mail address, a phone number or a provider id.
enum SearchCommand {
    static let syntax = Syntax(
        words: ["search"],
        summary: "find accounts by an id, an e-mail, a phone number or a provider id",
        operands: [
            .init(
                placeholder: "Q",
                meaning:
                    "an e-mail, phone number, provider id, or the id of an account, identity, event or request"
            )
        ],
        options: [
            HistoryCommands.tenantOption, HistoryCommands.formatOption,
            .init(
                name: "reason", placeholder: "TEXT",
                meaning: "reason, for the access log; required except for an id"),
        ],
        settings: [.databaseURL, .keys],
        details: """
            Matches exactly, e-mails without regard to case, and marks e-mails that are not known to be
            verified. A phone number begins with + and the code of its country. Also finds identities without
            an account, merged accounts with their survivors, and erased accounts, the last by ids only. Prints
            ids and no personal data; account and history print more. A search for anything but an id requires
            LEDGER_KEYS and --reason, and the access log records the kind of search term and the accounts found
            before they are printed. An id is compared with provider ids only with --reason. An empty result is
            not an error.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        guard
            var term = SearchTerm(
                arguments.operands[0], named: RequestName.requestID(named:),
                number: CodeSettings.number)
        else { throw arguments.usageError("Q must be \(SearchTerm.form)") }
        let format = try HistoryCommands.format(arguments)
        let reason = try AdministeredCommand.optionalReason(arguments)
        guard reason != nil || term.id != nil else {
            throw arguments.usageError("missing option --reason: Q may be personal data")
        }
        let keys = try LedgerCommands.keys(environment)
        guard keys != nil || reason == nil else {
            throw Fault("\(Setting.keys.name) is not set: the search requires it to decrypt")
        }
        let url = try environment.databaseURL
        let tenant = try LedgerCommands.tenant(arguments, url: url) ?? .default
        if let number = term.phone, let secrets = keys?.wrapping.secrets {
            let names = AddressNames(current: secrets.currentID, keys: secrets.keys)
            term.addresses = names.all(of: number, .phone, in: tenant)
        }
        let faults = LastFault()
        let reads = SearchReads(url: url, keys: keys?.searching) { faults.note($0) }
        let found: SearchResult
        do throws(LedgerFault) {
            found = try await reads.found(
                by: term, comparesPersonalData: reason != nil, in: tenant)
        } catch {
            throw Fault(faults.last ?? "unknown cause")
        }
        await reads.close()
        if let reason {
            var access = AccessRecord(by: nil, .search)
            access.details = found.details(of: term)
            access.reason = reason
            do {
                try await AdministeredCommand(url: url, tenant: tenant).record(access)
            } catch {
                throw Fault("nothing was disclosed: \(error)")
            }
        }
        Terminal.print(
            format == .json ? String(decoding: found.json, as: UTF8.self) + "\n" : found.text)
        return .success
    }
}

extension SearchResult {
    /// The text format.
    fileprivate var text: String {
        var lines = accounts.flatMap(\.lines) + identities.map(\.line) + events.map(\.line)
        if lines.isEmpty { lines.append("no match") }
        if let requestAccounts, requestAccounts > 1 {
            lines.append(
                "requests with this id touched \(requestAccounts) accounts: clients choose the id, and"
                    + " several may have sent the same one")
        }
        if hasMore { lines.append("there may be more matches") }
        return lines.map { $0 + "\n" }.joined()
    }
}

extension FoundAccount {
    fileprivate var lines: [String] {
        let names = linkedProviders.map(\.description).joined(separator: ", ")
        let state =
            switch state {
            case .live: "live, sign-in with \(names)"
            case .disabled: "disabled, linked to \(names)"
            case .absorbed: "merged into account \(mergedInto?.description ?? "?")"
            case .erased: "erased"
            }
        return ["account \(id)  \(state)  (\(matchedBy.text))"]
            + absorbed.map { "  absorbed account \($0)" }
    }
}

extension FoundIdentity {
    fileprivate var line: String {
        let relation = account == nil ? "last of account" : "of account"
        let isKnown = isEmailVerified != nil || !matchedBy.contains(where: \.isByEmail)
        return "identity \(id)  \(provider)  \(relation) \(lastAccount)  (\(matchedBy.text)"
            + (isKnown ? ")" : "; not known to be verified)")
    }
}

extension FoundEvent {
    fileprivate var line: String {
        let accounts = recorded.accounts.map(\.id.description).joined(separator: ", ")
        return
            "event \(recorded.id)  #\(recorded.position)  \(recorded.recordedAt)  \(recorded.event.name.rawValue)"
            + "  accounts \(accounts.isEmpty ? "none" : accounts)  (\(matchedBy.text))"
    }
}

extension [SearchMatch] {
    /// `email, provider id`.
    fileprivate var text: String {
        map { $0.rawValue.replacing("_", with: " ") }.joined(separator: ", ")
    }
}
