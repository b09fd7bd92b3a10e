import CommandLine
import Cryptography
import Foundation
import JSON
import Ledger
import LedgerEngine
import LedgerImport
import LedgerPostgres

/// Imports the accounts of a file in batches, in the order of the file.
struct AccountImporter: Sendable {
    /// The results of an import, and the reason why it did not go on.
    struct Outcome {
        var totals = ImportTotals()
        var fault: Fault?
    }

    /// A record with what becomes of it.
    private struct Read: Sendable {
        let line: Int
        let record: SourceRecord
        var mapped: AccountMapper.Mapped?
    }

    /// A batch whose commands were submitted.
    private struct Submitted {
        let reads: [Read]
        let commands: [Command]
        let answers: AsyncStream<[Sequencer.Answer]>
    }

    /// The number of accounts in one transaction.
    static let batchMax = 1024
    /// The number of events at which a batch gets no further account; two that wait together may be one transaction.
    private static let eventsMax = 8192
    /// The number of batches of which one is decided while the others are read.
    private static let batchesInFlight = 3
    /// The number of accounts that one task maps.
    private static let mappedTogether = 64
    private static let recordsPerLine = 10_000
    /// The number of times that commands with an unknown outcome are repeated, and the pause before each: together
    /// longer than a failover.
    private static let repetitions = 60
    private static let pause = Duration.seconds(1)

    let command: AdministeredCommand
    let sequencer: Sequencer
    let faults: LastFault
    var mapper: AccountMapper
    let isDryRun: Bool
    let report: ProblemFile?

    /// Imports the accounts of a file, which is read twice when it may have claims that give way to proofs.
    ///
    /// - Parameters:
    ///   - opened: The file.
    ///   - open: Opens it again.
    /// - Returns: The results.
    func run(_ opened: AccountFile, again open: () throws(Fault) -> AccountFile) async -> Outcome {
        guard mapper.hasClaims else { return await run(opened) }
        var importer = self
        do throws(Fault) {
            importer.mapper = mapper.preview
            let claims = try await importer.provedClaims(in: opened)
            importer.mapper = mapper
            importer.mapper.provedClaims = claims
            return await importer.run(try open())
        } catch {
            return Outcome(fault: error)
        }
    }

    /// Finds the claims that a later record of the file proves, if that record is imported: one of an external id
    /// that the ledger has, or that an earlier record has, imports nothing.
    private func provedClaims(in opened: AccountFile) async throws(Fault) -> ProvedClaims {
        var file = opened
        var claims = ProvedClaims()
        while let reads = try batch(of: &file, endsAtBreak: true) {
            let proofs = await map(reads).filter { read in
                read.mapped?.command.map { claims.read($0) } ?? false
            }
            guard !proofs.isEmpty else { continue }
            let submitted = submit(proofs)
            for (read, answer) in zip(proofs, await answers(to: submitted)) {
                guard try success(of: answer).effect == .opened, let command = read.mapped?.command
                else { continue }
                claims.end(by: command)
            }
        }
        return claims.found
    }

    /// Reads a transaction's worth of records; nil at the end of the file, and at its break if that is no fault.
    private func batch(
        of file: inout AccountFile, endsAtBreak: Bool = false
    ) throws(Fault) -> [Read]? {
        do throws(ImportFault) {
            let batch = try file.batch(recordsMax: Self.batchMax, eventsMax: Self.eventsMax)
            return batch.isEmpty ? nil : batch.map { Read(line: $0.line, record: $0.record) }
        } catch {
            if endsAtBreak, case .malformed = error { return nil }
            throw Fault("\(error)")
        }
    }

    /// Imports the accounts of an open file.
    private func run(_ opened: AccountFile) async -> Outcome {
        var file = opened
        var outcome = Outcome()
        var seen = EarlierAccounts()
        do throws(Fault) {
            let began = ContinuousClock.now
            var inFlight: [Submitted] = []
            var fault: Fault?
            while true {
                var reads: [Read] = []
                if fault == nil {
                    do throws(Fault) { reads = try batch(of: &file) ?? [] } catch { fault = error }
                }
                if !reads.isEmpty { inFlight.append(submit(await map(reads))) }
                while let oldest = inFlight.first,
                    reads.isEmpty || inFlight.count >= Self.batchesInFlight
                {
                    inFlight.removeFirst()
                    let before = outcome.totals.records
                    // Batches in flight are counted also after a fault.
                    let failed = await finish(oldest, &seen, &outcome.totals)
                    fault = fault ?? failed
                    let isLast = inFlight.isEmpty && reads.isEmpty
                    progress(outcome.totals.records, after: before, began, isLast: isLast)
                }
                guard !reads.isEmpty else { break }
            }
            if let fault { throw fault }
        } catch {
            outcome.fault = error
        }
        return outcome
    }

    /// Makes the commands on all processors.
    private func map(_ reads: [Read]) async -> [Read] {
        await withTaskGroup(of: (Int, [Read]).self) { tasks in
            for start in stride(from: 0, to: reads.count, by: Self.mappedTogether) {
                let part = reads[start...].prefix(Self.mappedTogether)
                tasks.addTask { [mapper] in
                    let now = Timestamp.now
                    let identifiers = IdentifierBits()
                    let mapped = part.map { read in
                        var read = read
                        if case .account(let account) = read.record {
                            read.mapped = mapper.map(
                                account, at: now, newID: identifiers.next)
                        }
                        return read
                    }
                    return (start, mapped)
                }
            }
            var parts: [(Int, [Read])] = []
            for await part in tasks { parts.append(part) }
            return parts.sorted { $0.0 < $1.0 }.flatMap(\.1)
        }
    }

    /// Submits the commands of a batch in its order.
    private func submit(_ reads: [Read]) -> Submitted {
        let (answers, continuation) = AsyncStream.makeStream(of: [Sequencer.Answer].self)
        let commands = reads.compactMap { $0.mapped?.command }.map { command.command($0.intent) }
        sequencer.submit(commands) { all in
            continuation.yield(all)
            continuation.finish()
        }
        return Submitted(reads: reads, commands: commands, answers: answers)
    }

    /// Waits for the answers of a batch.
    ///
    /// Commands whose outcome is unknown, because the connection was lost, are repeated: an account that was imported
    /// is kept then.
    private func answers(to submitted: Submitted) async -> [Sequencer.Answer] {
        var answers: [Sequencer.Answer] = []
        for await all in submitted.answers { answers = all }
        for _ in 0..<Self.repetitions {
            let unknown = answers.indices.filter { answers[$0] == .failure(.unavailable) }
            guard !unknown.isEmpty else { break }
            _ = try? await Task.sleep(for: Self.pause)
            let again = await withCheckedContinuation { continuation in
                sequencer.submit(unknown.map { submitted.commands[$0] }) {
                    continuation.resume(returning: $0)
                }
            }
            for (index, answer) in zip(unknown, again) { answers[index] = answer }
        }
        return answers
    }

    /// Waits for the answers of a batch, and counts them.
    ///
    /// - Parameters:
    ///   - submitted: The batch.
    ///   - seen: The accounts of the file so far.
    ///   - totals: The numbers to add to.
    /// - Returns: A fault when an outcome is unknown.
    private func finish(
        _ submitted: Submitted, _ seen: inout EarlierAccounts, _ totals: inout ImportTotals
    ) async -> Fault? {
        var fault: Fault?
        var rest = await answers(to: submitted)[...]
        for read in submitted.reads {
            totals.records += 1
            switch read.record {
            case .flaw(let flaw):
                totals.refused += 1
                note(ImportProblem(flaw.rawValue), of: read, &totals)
            case .account:
                guard let mapped = read.mapped else {
                    totals.refused += 1
                    note(ImportProblem(RecordFlaw.noID.rawValue), of: read, &totals)
                    continue
                }
                for name in mapped.unknownProviders { totals.add(unknownProvider: name) }
                guard let command = mapped.command else {
                    totals.refused += 1
                    note(mapped.losses, of: read, &totals)
                    note(.noWay, of: read, &totals)
                    continue
                }
                do throws(Fault) {
                    var success = try success(of: rest.popFirst())
                    if isDryRun { success = seen.preview(command, success, mapper.policy) }
                    count(success, of: command, mapped.losses, read, &seen, &totals)
                } catch {
                    fault = fault ?? error
                }
            }
        }
        report?.flush()
        return fault
    }

    private func success(
        of answer: Sequencer.Answer?
    ) throws(Fault) -> ImportAccount.Success {
        switch answer {
        case .success(.success(let reply))?:
            guard let success = ImportAccount.success(in: reply) else {
                throw Fault("unexpected reply to a command")
            }
            return success
        // The rules have no provider of the account.
        case .success(.failure)?: return ImportAccount.Success(.refused)
        case .failure?, nil:
            throw Fault(
                "the outcome is unknown: \(faults.last ?? "unknown cause"); repeat the command")
        }
    }

    private func count(
        _ success: ImportAccount.Success, of command: ImportAccount, _ losses: [Loss],
        _ read: Read, _ seen: inout EarlierAccounts, _ totals: inout ImportTotals
    ) {
        switch success.effect {
        case .kept:
            totals.kept += 1
            if let account = success.account, !seen.insert(account) {
                note(.duplicateID, of: read, &totals)
            } else {
                // The run that imported it may have been interrupted before it reported them.
                note(losses, of: read, isKept: true, &totals)
            }
            return
        case .opened:
            totals.opened += 1
            totals.identities += success.identities
            totals.addresses += success.addresses
            totals.passwords += success.passwords
            if command.disabledReason != nil { totals.disabled += 1 }
        case .refused: totals.refused += 1
        }
        note(losses, of: read, &totals)
        for problem in success.problems {
            let place = problem.holder.map { seen.contains($0) ? ConflictPlace.file : .ledger }
            note(
                ImportProblem(problem.obstacle.rawValue, place: place, provider: problem.provider),
                of: read, &totals)
        }
        if success.effect == .refused { note(.noWay, of: read, &totals) }
        if success.effect == .opened { seen.insert(command.newAccount) }
    }

    private func note(
        _ losses: [Loss], of read: Read, isKept: Bool = false, _ totals: inout ImportTotals
    ) {
        for loss in losses {
            note(ImportProblem(loss.rawValue, isOfKept: isKept), of: read, &totals)
        }
    }

    private func note(_ problem: ImportProblem, of read: Read, _ totals: inout ImportTotals) {
        totals.add(problem)
        // Of nearly every account.
        if problem.kind != Loss.profile.rawValue { report?.add(problem, line: read.line) }
    }

    private func progress(
        _ count: Int, after before: Int, _ began: ContinuousClock.Instant, isLast: Bool
    ) {
        guard Terminal.isTerminal,
            isLast || count / Self.recordsPerLine != before / Self.recordsPerLine
        else { return }
        let seconds = Double((ContinuousClock.now - began).components.seconds)
        let rate = seconds > 0 ? ", \(Int(Double(count) / seconds)) a second" : ""
        Terminal.printError("\(count) records so far\(rate)")
    }
}
