import CommandLine
import Ledger
import LedgerAPI
import LedgerMessages
import LedgerPostgres

/// `messages`: prints what became of messages to people, without recipients and contents.
enum MessagesCommand {
    static let syntax = Syntax(
        words: ["messages"], summary: "print what became of messages to people",
        options: [
            HistoryCommands.tenantOption,
            .init(
                name: "account", placeholder: "ACCOUNT", meaning: "only messages about this account"
            ),
            .init(
                name: "state", placeholder: "STATE",
                meaning: SentMessage.State.allCases.map(\.rawValue).joined(separator: ", ")),
            HistoryCommands.formatOption,
        ],
        settings: [.databaseURL],
        details: """
            In the order of their creation, for 90 days. As text, at most 100 columns wide, or as one line
            of JSON per message. The group of support may read all of it: it has neither addresses nor
            contents.
            """)

    private static let pageRows = 1_000

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        var query = MessageQuery(limit: pageRows)
        query.account = try arguments.value(of: "account", as: "an account id") { AccountID($0) }
        query.state = try arguments.value(
            of: "state", as: SentMessage.State.allCases.map(\.rawValue).joined(separator: " or "),
            SentMessage.State.init(rawValue:))
        let format = try HistoryCommands.format(arguments)
        let url = try environment.databaseURL
        let tenant = try LedgerCommands.tenant(arguments, url: url) ?? .default
        let faults = LastFault()
        let reads = MessageReads(url: url) { faults.note($0) }
        let output = BufferedOutput()
        var count = 0
        var page: MessagePage
        repeat {
            do throws(LedgerFault) {
                page = try await reads.messages(matching: query, in: tenant)
            } catch {
                throw Fault(faults.last ?? "unknown cause")
            }
            for message in page.messages {
                try output.add(
                    format == .json
                        ? String(decoding: message.json, as: UTF8.self) + "\n" : message.text)
            }
            count += page.messages.count
            query.after = page.next
        } while page.hasMore
        await reads.close()
        if format == .text { try output.add("\(count) \(count == 1 ? "message" : "messages")\n") }
        try output.finish()
        return .success
    }
}

extension SentMessage {
    /// The text format.
    fileprivate var text: String {
        let answer = [responseCode.map { "code \($0)" }, fault].compactMap(\.self)
        return Columns.lines(
            [
                createdAt.description, channel, template, language, state.rawValue,
                "\(attempts) \(attempts == 1 ? "attempt" : "attempts")",
            ] + answer + (endedAt.map { ["ended \($0)"] } ?? [])
                + [account.map { "account \($0)" } ?? "no account", "message \(id)"])
    }
}
