import ChildProcesses
import Foundation
import LedgerExport
import Testing
import TransparencyLog

/// The page `verify.html` of a bundle.
@Suite struct VerificationPageTests {
    @Test func `a bundle has the page of the release, which is one file`() throws {
        let bundle = try ExampleBundle(ExampleLog(count: 9), size: 9)
        let contents = try BundleContents(path: bundle.path)
        let page = try #require(contents.members.first { $0.name == "verify.html" }).bytes
        #expect(page == BundleWriter.page)
        let text = String(decoding: page, as: UTF8.self)
        for outside in ["src=", "href=", "import ", "export ", "{policy}", "{style}", "{script}"] {
            #expect(!text.contains(outside), "\(outside)")
        }
        #expect(text.contains("default-src 'none'; script-src 'sha256-"))
        #expect(text.split(separator: "</script").count == 2)
        #expect(page.count < 60_000)
    }

    @Test func `the page refuses a key that has not signed`() throws {
        let bundle = try ExampleBundle(ExampleLog(count: 9), size: 9)
        let other = ExampleLog(count: 1, seed: "other").signer.verifier.vkey
        #expect(
            try bundle.verifyWithPage(other).hasPrefix(
                "DOES NOT HOLD: checkpoint.txt is invalid: none of the given keys"))
        #expect(try bundle.verifyWithPage("x").hasPrefix("DOES NOT HOLD: "))
    }

    @Test func `the page and the former release agree about a bundle without a page`() throws {
        let file = try #require(
            Bundle.module.url(forResource: "FormerRelease/bundle", withExtension: "tar"))
        #expect(
            try VerificationPageRun.verify(
                file.path,
                "ledger.example/default+257559df+AZsfhHkc/HZjBFhU04netcqVRJ2HXydqg4QLBgqznPxx")
                == "everything holds: every entry of the log up to the checkpoint is here")
    }
}

/// Runs the script of the page without a browser.
enum VerificationPageRun {
    private static let checker = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Page/check.mjs").path

    /// Returns the line that the page shows about a bundle.
    static func verify(_ bundle: String, _ vkey: String) throws -> String {
        let page = FileManager.default.temporaryDirectory
            .appendingPathComponent("verify-\(UUID().uuidString).html")
        try Data(BundleWriter.page).write(to: page)
        defer { try? FileManager.default.removeItem(at: page) }
        let (_, output) = try ChildProcess.run(
            "/usr/bin/env", ["node", "--no-warnings", checker, page.path, bundle, vkey])
        return output.trimmingCharacters(in: .newlines)
    }
}
