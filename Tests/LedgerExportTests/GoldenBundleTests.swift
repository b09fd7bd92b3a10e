import Cryptography
import Encodings
import Ledger
import LedgerExport
import Testing

/// The bytes of the files that are JSON, which other programs read: they change only with the format's version,
/// and `bundle.json` with the types of events and their versions.
@Suite struct GoldenBundleTests {
    @Test(arguments: [
        (nil, false, "3df1f1ccf959999c2ca36d21f67105120978912a5de5d383f5ecea83279b3e01"),
        (
            ExampleLog.accounts[0], true,
            "ab5890e8096e0f737ceed431c0eb496bcd48fce5c7c9db26308de1398d23c1c7"
        ),
    ])
    func `the JSON files of a bundle are those of the first release with versions`(
        account: AccountID?, isDisclosed: Bool, digest: String
    ) throws {
        let bundle = try ExampleBundle(
            ExampleLog(count: 30), size: 30, account: account, isDisclosed: isDisclosed)
        let contents = try BundleContents(path: bundle.path)
        var text: [UInt8] = []
        for (name, bytes) in contents.members where name != "manifest.json" {
            if name.hasSuffix(".json") || name.hasSuffix(".jsonl") { text += bytes }
        }
        #expect(Hex.encode(SHA256.hash(text)) == digest)
    }

    @Test func `the manifest has a line for each file`() throws {
        let bundle = try ExampleBundle(ExampleLog(count: 1), size: 1)
        let manifest = try #require(try BundleContents(path: bundle.path).members.last)
        let text = String(decoding: manifest.bytes, as: UTF8.self)
            .replacing(/"bytes":"\d+","sha256":"[0-9a-f]{64}"/, with: "_")
        #expect(
            text.drop { $0 != "[" } == """
                [
                {"name":"bundle.json",_},
                {"name":"keys.txt",_},
                {"name":"checkpoint.txt",_},
                {"name":"consistency.jsonl",_},
                {"name":"VERIFY.md",_},
                {"name":"verify.py",_},
                {"name":"verify.go",_},
                {"name":"verify.html",_},
                {"name":"checkpoints/000000.jsonl",_},
                {"name":"entries/000000.jsonl",_}]}

                """)
    }

    @Test(arguments: [
        (false, "c8261dc724329e60bca5ca2dba1fe4c2092bd84f009b5e4220d075fcbc44ab6b"),
        (true, "cd9f9ffbe6286b6dc139f6bf4a1d1371f9e05e51bb05e0d15d026ad32673b89c"),
    ])
    func `lines of JSON are those of the first release`(isDisclosed: Bool, digest: String) {
        let lines = ExampleLog(count: 30).events.flatMap {
            JSONLines.line($0, isDisclosed: isDisclosed)
        }
        #expect(Hex.encode(SHA256.hash(lines)) == digest)
    }
}
