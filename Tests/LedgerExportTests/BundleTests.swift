import Foundation
import Ledger
import LedgerExport
import Testing
import TransparencyLog

/// Bundles that nobody touched: both programs find that everything holds.
@Suite struct BundleTests {
    @Test(arguments: [1, 2, 19, 20, 21, 64, 100])
    func `a bundle of the whole log holds`(size: Int) throws {
        let bundle = try ExampleBundle(ExampleLog(count: 100), size: size)
        let report = try bundle.verify()
        #expect(report.events == Int64(size))
        #expect(report.signers == [bundle.log.signer.verifier.vkey])
        #expect(!report.trustsOwnKeys)
        #expect(report.disclosures == 0)
        #expect(try bundle.verifyWithPython() == "everything holds")
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
        #expect(try bundle.verifyWithPython() == "everything holds")
    }

    @Test func `without a known key the bundle's own is taken, and the report says so`() throws {
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

    /// Every command of the instructions, in their order, as they stand there.
    @Test(arguments: [true, false])
    func `the steps of VERIFY.md do what they say`(isWhole: Bool) throws {
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
        // An indented line is a command; what is indented next to it belongs to it.
        let commands = text.split(separator: "\n", omittingEmptySubsequences: false)
            .split { !$0.hasPrefix("    ") }
            .map { $0.map { $0.dropFirst(4) }.joined(separator: "\n") }
        #expect(commands.count == 4)
        let answers = try commands.map { command in
            try Shell.run("set -e\n\(command)", in: directory)
        }
        for (command, answer) in zip(commands, answers) {
            #expect(answer.status == 0, "\(command)\n\(answer.output)")
        }
        #expect(answers[0].output == bundle.log.signer.verifier.vkey + "\n")
        #expect(answers[1].output.contains("Signature Verified Successfully"))
        #expect(answers[2].output.hasSuffix("everything holds\n"))
        #expect(answers[3].output.contains("hold against its checkpoint of 55"))
    }
}
