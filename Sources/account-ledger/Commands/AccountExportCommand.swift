import CommandLine
import Foundation
import Ledger
import LedgerAudit
import LedgerImport

/// `export --format auth0` and `--format firebase`: writes the accounts as another system imports them.
struct AccountExportCommand {
    private static let bufferBytes = 262_144

    let target: UserWriter.Target

    func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        guard arguments.has("all"), arguments["account"] == nil, arguments["since"] == nil else {
            throw arguments.usageError("--format \(target.rawValue) requires --all alone")
        }
        guard let path = arguments["output"] else {
            throw arguments.usageError("missing option --output")
        }
        guard let disclosing = try DisclosureOptions(arguments, environment) else {
            throw arguments.usageError(
                "--format \(target.rawValue) is personal data: it requires --disclose and --reason")
        }
        let command = try AdministeredCommand(arguments, environment)
        let rules = try MergeCase.rules(environment, command)
        let file = try NewFile(path: path)
        guard let handle = FileHandle(forWritingAtPath: file.partialPath) else {
            throw Fault("can't write \(path)")
        }
        try await disclosing.record(
            .exportAccounts, details: ["format": target.rawValue], in: command.tenant,
            url: command.url)
        let types = rules.policy.providers.mapValues(\.type)
        let export = UserExport(url: command.url, keyring: disclosing.keyring, types: types)
        let writer = UserWriter(for: target, types: types)
        var count = 0
        var omissions: [UserWriter.Omission: Int] = [:]
        var last: AccountID?
        var buffer = Array(writer.frame.start.utf8)
        while true {
            let page = try await export.page(after: last, in: command.tenant)
            guard let end = page.last else { break }
            last = end.id
            for account in page {
                if count > 0 { buffer += writer.frame.separator.utf8 }
                let written = writer.write(account)
                buffer += written.bytes
                for omission in written.omissions { omissions[omission, default: 0] += 1 }
                count += 1
            }
            guard buffer.count >= Self.bufferBytes else { continue }
            try write(&buffer, to: handle, path)
        }
        await export.close()
        buffer += writer.frame.end.utf8
        try write(&buffer, to: handle, path)
        try file.keep()
        Terminal.print("wrote \(count) accounts to \(path)\n")
        for (omission, number) in omissions.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            Terminal.print("accounts with \(omission.text): \(number)\n")
        }
        return .success
    }

    private func write(
        _ buffer: inout [UInt8], to handle: FileHandle, _ path: String
    ) throws(Fault) {
        do { try handle.write(contentsOf: Data(buffer)) } catch {
            throw Fault("can't write \(path)")
        }
        buffer.removeAll(keepingCapacity: true)
    }
}

extension UserWriter.Omission {
    fileprivate var text: String {
        switch self {
        case .identity: "an identity that the system does not import"
        case .address: "a second address of their own"
        case .hash: "a password whose hash the system does not import, as any with a pepper"
        case .factor: "second factors, which are not exported"
        case .codes: "codes to an e-mail that comes back with its password alone"
        case .verification: "a provider's e-mail that comes back as not verified"
        case .name: "another external id"
        case .ownEmail: "an e-mail of their own that comes back as a provider's"
        case .noEmail: "no e-mail, which the system does not import"
        }
    }
}
