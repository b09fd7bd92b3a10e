import Ledger
import LedgerAPI
import LedgerPostgres

/// `search`: finds accounts by anything that somebody holds.
enum SearchCommand {
    static let syntax = Syntax(
        words: ["search"], summary: "find accounts by an id, an e-mail or a provider's id",
        operands: [
            .init(
                placeholder: "Q",
                meaning:
                    "an e-mail, a provider's id, or the id of an account, identity, event or request"
            )
        ],
        options: [
            HistoryReading.tenantOption, HistoryReading.formatOption,
            .init(
                name: "reason", placeholder: "TEXT",
                meaning: "why; kept in the access log; required but for an id"),
        ],
        settings: [.databaseURL, .keys],
        details: """
            Matches exactly, e-mails but for case, and says which e-mails are not known to be verified. Finds identities that belong to nobody any more, accounts
            that were merged, which say into which, and erased ones by ids only. Prints ids and no personal
            data; account and history tell more. Anything but an id needs LEDGER_KEYS and --reason, and the
            access log has what kind of thing was searched for, and the accounts, before they are printed. An
            id is compared with providers' ids only with --reason. Finding nothing is an answer, too.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        guard
            let term = SearchTerm(
                arguments.operands[0], named: RequestName.requestID(named:))
        else { throw arguments.misuse("Q wants \(SearchTerm.form)") }
        let format = try HistoryReading.format(arguments)
        let reason = try AdministeredCommand.optionalReason(arguments)
        guard reason != nil || term.id != nil else {
            throw arguments.misuse("--reason is missing: Q may be personal data")
        }
        let keys = try LedgerReading.keys(environment)
        guard keys != nil || reason == nil else {
            throw Fault("\(Setting.keys.name) is not set: a search has to decrypt")
        }
        let url = try environment.databaseURL
        let tenant = try LedgerReading.tenant(arguments, url: url) ?? .default
        let faults = FaultNote()
        let reads = SearchReads(url: url, keys: keys?.searching) { faults.note($0) }
        let found: SearchResult
        do throws(LedgerFault) {
            found = try await reads.found(
                by: term, comparesPersonalData: reason != nil, in: tenant)
        } catch {
            throw Fault(faults.last ?? "no reason known")
        }
        await reads.close()
        if let reason {
            var access = AccessRecord(by: nil, .search)
            access.details = found.details(of: term)
            access.reason = reason
            do {
                try await AdministeredCommand(url: url, tenant: tenant).record(access)
            } catch {
                throw Fault("nothing is shown: \(error)")
            }
        }
        Terminal.print(
            format == .json ? String(decoding: found.json, as: UTF8.self) + "\n" : found.text)
        return .success
    }
}

extension SearchResult {
    /// What people read.
    fileprivate var text: String {
        var lines = accounts.flatMap(\.lines) + identities.map(\.line) + events.map(\.line)
        if lines.isEmpty { lines.append("nothing was found") }
        if let requestAccounts, requestAccounts > 1 {
            lines.append(
                "requests with this id touched \(requestAccounts) accounts: clients choose the id, and"
                    + " two may have sent the same")
        }
        if hasMore { lines.append("there may be more than is shown") }
        return lines.map { $0 + "\n" }.joined()
    }
}

extension FoundAccount {
    fileprivate var lines: [String] {
        let names = linkedProviders.map(\.description).joined(separator: ", ")
        let standing =
            switch state {
            case .live: "live, signs in with \(names)"
            case .absorbed: "merged into account \(mergedInto?.description ?? "?")"
            case .erased: "erased"
            }
        return ["account \(id)  \(standing)  (\(matchedBy.text))"]
            + absorbed.map { "  stands for account \($0)" }
    }
}

extension FoundIdentity {
    fileprivate var line: String {
        let place = account == nil ? "last of account" : "of account"
        let isKnown = isEmailVerified != nil || !matchedBy.contains(where: \.isByEmail)
        return "identity \(id)  \(provider)  \(place) \(lastAccount)  (\(matchedBy.text)"
            + (isKnown ? ")" : ": whether it is verified is not known)")
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
