import Foundation
import Ledger
import LedgerImport
import Testing

/// Files that begin with a mark, are in another form, or are not there.
@Suite struct ImportFileTests {
    @Test(arguments: [
        (
            ImportFormat.auth0,
            [#"{"user_id":"google-oauth2|1"}"#, #"{"_id":{"$oid":"1"},"passwordHash":"x"}"#]
        ),
        (.auth0, [#"[{"user_id":"google-oauth2|1"}]"#]),
        (.firebase, [#"{"users":[{"localId":"1"}]}"#]),
        (.firebase, ["1,a@x.test,true" + String(repeating: ",", count: 26)]),
        (.keycloak, [#"{"users":[{"id":"1"}]}"#]),
        (.supabase, ["id\nu1\n", "user_id,provider,provider_id\nu2,apple,a\nu1,google,g1\n"]),
        (.supabase, ["COPY auth.users (id) FROM stdin;\nu1\n\\.\n"]),
    ])
    func `a byte order mark is no part of a file`(format: ImportFormat, texts: [String]) throws {
        func accounts(_ mark: String) throws -> [SourceAccount] {
            try AccountFileTests.records(format, texts.map { mark + $0 }).compactMap { _, record in
                if case .account(let account) = record { account } else { nil }
            }
        }
        let plain = try accounts("")
        #expect(try plain.count == 1 && accounts("\u{FEFF}") == plain)
    }

    @Test(
        arguments: [
            ([0x1F, 0x8B, 8], "compressed by gzip"), ([0x50, 0x4B, 3, 4], "a ZIP archive"),
            ([0xFF, 0xFE, 0x69, 0], "UTF-16"), ([0xFE, 0xFF, 0, 0x69], "UTF-16"),
            (Array("PGDMP".utf8), "a dump that pg_restore --file=- writes as text"),
        ] as [([UInt8], String)])
    func `a file that is no text is named, with its form`(start: [UInt8], form: String) throws {
        let other = Data(start)
        let users = [
            (ImportFormat.auth0, #"{"user_id":"1"}"#), (.firebase, #"{"users":[]}"#),
            (.keycloak, "[]"), (.supabase, "id,user_id\n"),
        ]
        for (format, text) in users {
            for contents in [[other], [Data(text.utf8), other]] {
                let isSecond = contents.count > 1
                guard !isSecond || [.auth0, .supabase].contains(format) else { continue }
                try AccountFileTests.with(contents) { paths in
                    let fault = #expect(throws: ImportFault.self) {
                        try AccountFile(
                            format, paths: paths, hashing: nil, now: Timestamp(seconds: 0))
                    }
                    #expect(
                        fault?.description
                            == "\(paths.last ?? "") has to be text in UTF-8, and is \(form)")
                }
            }
        }
    }

    @Test func `files that are not there or lack a column are named`() {
        #expect(throws: ImportFault.unreadable("/nowhere/x")) {
            try AccountFile(.auth0, paths: ["/nowhere/x"], hashing: nil, now: Timestamp(seconds: 0))
        }
        #expect(throws: ImportFault.missingColumn("id")) {
            try AccountFileTests.records(.supabase, ["email\na@x.test\n"])
        }
        #expect(throws: ImportFault.missingColumn("user_id")) {
            try AccountFileTests.records(.supabase, ["id\nu1\n", "provider\ngoogle\n"])
        }
    }
}
