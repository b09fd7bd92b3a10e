import Foundation
import Ledger
import LedgerExport
import Testing
import TransparencyLog

/// Unmodified bundles: both programs find that everything holds.
@Suite struct BundleTests {
    @Test(arguments: [1, 2, 19, 20, 21, 64, 100])
    func `a bundle of the whole log holds`(size: Int) throws {
        let bundle = try ExampleBundle(ExampleLog(count: 100), size: size)
        let report = try bundle.verify()
        #expect(report.events == Int64(size))
        #expect(report.signers == [bundle.log.signer.verifier.vkey])
        #expect(!report.trustsOwnKeys)
        #expect(report.disclosures == 0)
        #expect(
            report.conclusion
                == "everything holds: every entry of the log up to the checkpoint is here")
        #expect(try bundle.verifyWithPython() == report.conclusion)
        #expect(try bundle.verifyWithPage() == report.conclusion)
    }

    /// Written at commit 02482e8, before events had versions and a head named them.
    @Test func `a bundle of the former release holds`() throws {
        let file = try #require(
            Bundle.module.url(forResource: "FormerRelease/bundle", withExtension: "tar"))
        let key = try #require(
            NoteVerifier(
                "ledger.example/default+257559df+AZsfhHkc/HZjBFhU04netcqVRJ2HXydqg4QLBgqznPxx"))
        let report = try BundleVerification(path: file.path, verifiers: [key]).run()
        #expect(report.events == 10 && report.redactedDisclosures > 0)
        #expect(report.head.versions.isEmpty)
    }

    @Test func `a version that a newer release wrote is not damage`() throws {
        let bundle = try ExampleBundle(
            ExampleLog(count: 30) { position, text in
                position == 23 ? text.replacing("\"v\":\"1\"", with: "\"v\":\"3\"") : text
            }, size: 30)
        let unknown = "the entry's version is unknown to this release; a newer one may know it"
        let damage = #expect(throws: BundleFault.self) { try bundle.verify() }
        #expect(damage?.description == "position 23: \(unknown)")
        var contents = try BundleContents(path: bundle.path)
        try contents.edit("bundle.json") {
            $0.replacing("\"SignedOut\":\"1\"", with: "\"SignedOut\":\"3\"")
        }
        try contents.write(to: bundle.path, isResealed: true)
        let newer = "the bundle was made by a newer release, which can verify it: \(unknown)"
        let fault = #expect(throws: BundleFault.self) { try bundle.verify() }
        #expect(fault?.description == "position 23: \(newer)")
        #expect(try bundle.verifyWithPython().hasPrefix("everything holds"))
        #expect(try bundle.verifyWithPage().hasPrefix("everything holds"))
    }

    @Test func `a bundle of an account holds, with its disclosures`() throws {
        let log = ExampleLog(count: 90)
        let bundle = try ExampleBundle(
            log, size: 83, account: ExampleLog.accounts[1], isDisclosed: true)
        let report = try bundle.verify()
        #expect(report.accounts == 1)
        #expect(report.events > 10)
        #expect(report.disclosures == 2 * report.events)
        #expect(report.checkpoints == 2)
        #expect(report.conclusion.contains("up to seq \(report.events - 1) at position"))
        #expect(report.conclusion.hasSuffix("follows is not proved"))
        #expect(try bundle.verifyWithPython() == report.conclusion)
        #expect(try bundle.verifyWithPage() == report.conclusion)
    }

    /// An account's entries cannot prove that no other one follows, so no program claims it.
    @Test func `a truncated history is reported to hold up to its end`() throws {
        let bundle = try ExampleBundle(
            ExampleLog(count: 60), size: 55, account: ExampleLog.accounts[1])
        let whole = try bundle.verify()
        var contents = try BundleContents(path: bundle.path)
        try contents.removeLine(nth: Int(whole.events) - 1)
        try contents.write(to: bundle.path, isResealed: true)
        let cut = try bundle.verify()
        #expect(cut.last?.sequence == whole.events - 2)
        #expect(cut.conclusion != whole.conclusion)
        #expect(cut.conclusion.hasSuffix("no later entry of the account follows is not proved"))
        #expect(try bundle.verifyWithPython() == cut.conclusion)
        #expect(try bundle.verifyWithPage() == cut.conclusion)
    }

    @Test func `a disclosure that an erasure destroyed is redacted`() throws {
        let account = ExampleLog.accounts[1]
        var log = ExampleLog(count: 40)
        log.appendErasure(of: account)
        for scope in [nil, account] {
            let bundle = try ExampleBundle(log, size: 41, account: scope, isDisclosed: true)
            let report = try bundle.verify()
            #expect(report.redactedDisclosures > 8)
            #expect((report.disclosures == 0) == (scope != nil))
            let output = try bundle.pythonOutput()
            #expect(output.status == 0)
            #expect(
                output.text.contains(
                    "             \(report.redactedDisclosures) redacted: their accounts were erased\n"
                ),
                "\(output.text)")
        }
    }

    @Test func `a disclosure missing without an erasure is withheld`() throws {
        let account = ExampleLog.accounts[1]
        var log = ExampleLog(count: 40)
        log.appendErasure(of: account)
        let bundle = try ExampleBundle(log, size: 41, isDisclosed: true)
        var contents = try BundleContents(path: bundle.path)
        // About another account.
        let position = try #require(
            log.events.firstIndex { $0.recorded.accounts.first?.id == ExampleLog.accounts[2] })
        try contents.editLine(position) { $0.replacing(/,"disclosures":\[.*\]/, with: "") }
        try contents.write(to: bundle.path, isResealed: true)
        let fault = #expect(throws: BundleFault.self) { try bundle.verify() }
        #expect(fault?.position == Int64(position))
        #expect(fault?.text.hasPrefix("2 disclosures are WITHHELD") == true)
        #expect(try bundle.verifyWithPython() == "DOES NOT HOLD: \(fault?.description ?? "")")
        #expect(try bundle.verifyWithPage() == "DOES NOT HOLD: \(fault?.description ?? "")")
    }

    @Test(arguments: [true, false])
    func `an event that commits to fewer disclosures than its kind always has is refused`(
        isDisclosed: Bool
    ) throws {
        var log = ExampleLog(count: 20)
        log.appendForgery(about: ExampleLog.accounts[1])
        let bundle = try ExampleBundle(log, size: 21, isDisclosed: isDisclosed)
        let fault = #expect(throws: BundleFault.self) { try bundle.verify() }
        #expect(
            fault?.description
                == "position 20: the entry commits to 0 disclosures, and every event of its kind to at"
                + " least 1")
    }

    @Test func `an account's bundle omits disclosures about others, and both programs say so`()
        throws
    {
        let holder = ExampleLog.accounts[1]
        var log = ExampleLog(count: 40)
        log.appendConflict(of: ExampleLog.accounts[2], with: holder)
        log.appendConflict(of: holder, with: ExampleLog.accounts[2])
        let bundle = try ExampleBundle(log, size: 42, account: holder, isDisclosed: true)
        let report = try bundle.verify()
        #expect(report.leftOutDisclosures == 2)
        #expect(report.disclosures == 2 * (report.events - 1))
        let output = try bundle.pythonOutput()
        #expect(output.status == 0)
        #expect(
            output.text.contains("             2 left out: they are about other accounts\n"),
            "\(output.text)")

        // If they were there, they would be refused.
        let foreign = try #require(log.events[40].disclosures.first).encoded
        var contents = try BundleContents(path: bundle.path)
        try contents.editLine(nth: Int(report.events) - 2) { line in
            line.replacing(
                ",\"path\":",
                with: ",\"disclosures\":[\"\(String(decoding: foreign, as: UTF8.self))\"],\"path\":"
            )
        }
        try contents.write(to: bundle.path, isResealed: true)
        let fault = #expect(throws: BundleFault.self) { try bundle.verify() }
        #expect(fault?.position == 40)
        #expect(try bundle.verifyWithPython() == "DOES NOT HOLD: \(fault?.description ?? "")")
        #expect(try bundle.verifyWithPage() == "DOES NOT HOLD: \(fault?.description ?? "")")
    }

    /// A log rotates its keys: with only the new one, older signatures are reported as unknown.
    @Test func `older checkpoints of other keys are counted`() throws {
        let bundle = try ExampleBundle(ExampleLog(count: 60), size: 55)
        var contents = try BundleContents(path: bundle.path)
        let former = ExampleLog(count: 60, seed: "former")
        try contents.edit("consistency.jsonl") { text in
            text.replacing(
                BundleMutationTests.quoted(bundle.log.note(4)),
                with: BundleMutationTests.quoted(former.note(4)))
        }
        try contents.write(to: bundle.path, isResealed: true)
        #expect(try bundle.verify().unsignedCheckpoints == 1)
        #expect(
            try bundle.pythonOutput().text.contains(
                "             1 of them signed by keys that were not given\n"))
    }

    @Test func `the signature of a listed checkpoint is checked by openssl on request`() throws {
        let bundle = try ExampleBundle(ExampleLog(count: 60), size: 55)
        let output = try bundle.pythonOutput()
        #expect(output.text.contains("the signatures of 8 of them were not checked"))
        let all = try bundle.pythonOutput(nil, "--signatures")
        #expect(all.status == 0)
        #expect(!all.text.contains("not checked"), "\(all.text)")
        var contents = try BundleContents(path: bundle.path)
        let (right, wrong) = (bundle.log.note(28), bundle.log.note(21))
        let signature = try #require(right.split(separator: " ").last?.dropLast())
        try contents.edit("checkpoints/000001.jsonl") {
            $0.replacing(
                signature, with: try #require(wrong.split(separator: " ").last?.dropLast()))
        }
        try contents.write(to: bundle.path, isResealed: true)
        let fault = #expect(throws: BundleFault.self) { try bundle.verify() }
        #expect(fault?.text == "the signature of the checkpoint of 28 entries is wrong")
        #expect(
            try bundle.verifyWithPython(nil, "--signatures")
                == "DOES NOT HOLD: \(fault?.text ?? "")")
        #expect(try bundle.verifyWithPython().hasPrefix("everything holds"))
    }

    @Test func `without a known key the bundle's own is used and reported`() throws {
        let bundle = try ExampleBundle(ExampleLog(count: 10), size: 10)
        let report = try BundleVerification(path: bundle.path, verifiers: nil).run()
        #expect(report.trustsOwnKeys)
        #expect(throws: BundleFault.self) {
            try bundle.verify(ExampleLog(count: 1, seed: "other").signer.verifier.vkey)
        }
        let other = ExampleLog(count: 1, seed: "other").signer.verifier.vkey
        #expect(
            try bundle.verifyWithPython(other)
                == "DOES NOT HOLD: none of the keys has signed checkpoint.txt")
    }

    @Test func `the same export is the same bundle`() throws {
        let log = ExampleLog(count: 30)
        let first = try ExampleBundle(log, size: 30)
        let second = try ExampleBundle(log, size: 30)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: first.path))
        #expect(try bytes == Data(contentsOf: URL(fileURLWithPath: second.path)))
    }

    /// Every command of the instructions, in order and unchanged.
    @Test(arguments: [true, false])
    func `the steps of VERIFY.md work`(isWhole: Bool) throws {
        let bundle = try ExampleBundle(
            ExampleLog(count: 60), size: 55, account: isWhole ? nil : ExampleLog.accounts[0],
            isDisclosed: !isWhole)
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("steps-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let unpacked = try Shell.run(
            "mkdir \(directory) && tar xf \(bundle.path) -C \(directory)")
        #expect(unpacked.status == 0, "\(unpacked.output)")
        let text = try String(contentsOfFile: directory + "/VERIFY.md", encoding: .utf8)
        // An indented line is a command; consecutive indented lines belong together.
        let commands = text.split(separator: "\n", omittingEmptySubsequences: false)
            .split { !$0.hasPrefix("    ") }
            .map { $0.map { $0.dropFirst(4) }.joined(separator: "\n") }
        #expect(commands.count == 4)
        // No command uses the bundle's own key.
        #expect(commands.dropFirst().allSatisfy { $0.contains("'YOUR_KEY'") })
        #expect(!commands.dropFirst().contains { $0.contains("keys.txt") })
        let answers = try commands.map { command in
            let command = command.replacing("YOUR_KEY", with: bundle.log.signer.verifier.vkey)
            return try Shell.run("set -e\n\(command)", in: directory)
        }
        for (command, answer) in zip(commands, answers) {
            #expect(answer.status == 0, "\(command)\n\(answer.output)")
        }
        #expect(answers[0].output == bundle.log.signer.verifier.vkey + "\n")
        #expect(answers[1].output.contains("Signature Verified Successfully"))
        let conclusion = try bundle.verify().conclusion
        #expect(answers[2].output.hasSuffix(conclusion + "\n"), "\(answers[2].output)")
        #expect(answers[3].output.contains("hold against its checkpoint of 55"))
        #expect(answers[3].output.contains("follows is not proved") == !isWhole)
    }

    /// The tar file and the auditor's files beside it do not matter; files that are read must be
    /// the bundle's.
    @Test func `a bundle may be unpacked beside its tar file`() throws {
        let bundle = try ExampleBundle(ExampleLog(count: 60), size: 55)
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("beside-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let verify = "python3 verify.py --vkey '\(bundle.log.signer.verifier.vkey)' ."
        let beside = try Shell.run(
            "mkdir \(directory) && cd \(directory) && cp \(bundle.path) b.tar && tar xf b.tar"
                + " && echo x > notes && \(verify)")
        #expect(beside.status == 0, "\(beside.output)")
        for more in ["entries/000003.jsonl", "entries/x/y", "checkpoints/000007.jsonl"] {
            let answer = try Shell.run(
                "mkdir -p $(dirname \(more)) && : > \(more) && \(verify)", in: directory)
            #expect(answer.status == 1, "\(more): \(answer.output)")
            _ = try Shell.run("rm \(more)", in: directory)
        }
        for less in ["keys.txt", "VERIFY.md", "checkpoints/000001.jsonl"] {
            let answer = try Shell.run("mv \(less) away && \(verify)", in: directory)
            #expect(answer.status == 1, "\(less): \(answer.output)")
            _ = try Shell.run("mv away \(less)", in: directory)
        }
        #expect(try Shell.run(verify, in: directory).status == 0)
    }

    @Test(arguments: [
        ("\"position\":\"", "the entry states another position"), ("\"seq\":\"", "seq of account"),
        ("\"prev\":\"", "prev of account"),
    ])
    func `the program in Go checks positions and accounts`(member: String, fault: String) throws {
        // The log signed it, so nothing else is wrong.
        let log = ExampleLog(count: 30) { position, text in
            guard position == 20, let end = text.firstRange(of: member)?.upperBound else {
                return text
            }
            let digit = text[end] == "1" ? "2" : "1"
            return text.replacingCharacters(in: end...end, with: digit)
        }
        let bundle = try ExampleBundle(log, size: 30)
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("go-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let answer = try Shell.run(
            """
            mkdir \(directory) && tar xf \(bundle.path) -C \(directory) && cd \(directory) &&
            GO111MODULE=off GOPATH=/usr/share/gocode go run verify.go . '\(log.signer.verifier.vkey)'
            """)
        #expect(answer.status == 1)
        #expect(answer.output.hasPrefix("DOES NOT HOLD: position 20: "), "\(answer.output)")
        #expect(answer.output.contains(fault), "\(answer.output)")
        #expect(try bundle.verifyWithPython().hasPrefix("DOES NOT HOLD: position "))
    }
}
