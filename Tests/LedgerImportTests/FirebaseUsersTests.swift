import Ledger
import LedgerImport
import Testing

/// Users of Firebase whose rows or hashes can't be read as they are.
@Suite struct FirebaseUsersTests {
    /// Returns a row of the CSV as the command line writes it: texts are quoted only where it does so.
    private static func row(columns: Int, picture: String, phone: String = "") -> String {
        var fields = Array(repeating: "", count: columns)
        fields[0] = "a"
        fields[1] = "a@x.test"
        fields[2] = "true"
        fields[6] = picture
        fields[19] = "h_150"
        fields[23] = "1700000000000"
        fields[25] = phone
        fields[26] = "true"
        return fields.joined(separator: ",") + "\n"
    }

    @Test(arguments: [27, 28, 29, 52, 53])
    func `a comma in the address of a picture moves no column`(columns: Int) throws {
        func records(_ picture: String, phone: String = "") throws -> [SourceRecord] {
            let row = Self.row(columns: columns, picture: picture, phone: phone)
            return try AccountFileTests.records(.firebase, [row]).map(\.record)
        }
        guard case .account(let account)? = try records("https://x.test/w_150").first else {
            Issue.record("the row of \(columns) columns is no account")
            return
        }
        #expect(account.isDisabled && account.federated.map(\.provider) == ["github.com"])
        for picture in ["https://x.test/w_150,h_150", "https://x.test/a,b,c"] {
            for phone in ["", "+4930123456"] {
                guard case .flaw(.malformed)? = try records(picture, phone: phone).first else {
                    Issue.record("\(columns) columns and a comma in \(picture) are an account")
                    continue
                }
            }
        }
    }

    private static let commas = String(repeating: ",", count: 24)
    private static let rows = """
        a,a@x.test,true,,\(commas)
        b,b@x.test,true,lSrfV15cpx95/sZS,42xE\(commas)
        """

    @Test(
        arguments: [
            (#"{"users":[{"localId":"a"},\#n{"localId":"b",HASH}]}"#, 2),
            (#"{"users":[{"localId":"a","email":"a@x.test","passwordHash":"JDJiJDEwJGFi"}]}"#, nil),
            (#"{"users":[{"localId":"a"} x"#, nil), ("a,b,HASH", nil), (rows, 2),
        ] as [(String, Int?)])
    func `hashes need the project's parameters before anything is imported`(
        text: String, line: Int?
    ) throws {
        let hash = #""email":"b@x.test","passwordHash":"lSrfV15cpx95_sZS","salt":"42xE""#
        let fault = try AccountFileTests.with([text.replacing("HASH", with: hash)]) {
            paths -> ImportFault? in
            do throws(ImportFault) {
                try AccountFile.checkWithoutHashing(path: paths[0], now: Timestamp(seconds: 0))
                return nil
            } catch {
                return error
            }
        }
        #expect(fault == line.map { .missingHashConfig(line: $0) })
        #expect(fault?.description.contains("--hash-config") ?? true)
    }

    @Test(
        arguments: [
            (#""providerUserInfo":[{"rawId":"1"},7]"#, [.unknownProvider]),
            (
                #""providerUserInfo":[{"providerId":"google.com","rawId":"1","email":"A@x.test"}]"#,
                []
            ),
            (#""providerUserInfo":[{"providerId":"google.com","rawId":"1"}]"#, [.furtherAddress]),
            (
                #""providerUserInfo":[{"providerId":"google.com","rawId":"1","email":"b@x.test","photoUrl":"p"}]"#,
                [.profile, .furtherAddress]
            ),
        ] as [(String, [Loss])])
    func `what is not read of a user is a loss`(members: String, losses: [Loss]) {
        let user = #"{"localId":"1","email":"a@x.test",\#(members)}"#
        guard case .account(let account) = AccountFile.record(Array(user.utf8), .firebase) else {
            Issue.record("\(user) is no account")
            return
        }
        #expect(account.losses == losses)
    }

    @Test func `a hash that the exporter may not read is not in the file`() throws {
        let redacted = "UkVEQUNURUQ="
        let commas = String(repeating: ",", count: 24)
        for text in [
            #"{"users":[{"localId":"a","email":"a@x.test","passwordHash":"\#(redacted)"}]}"#,
            "a,a@x.test,false,\(redacted),\(commas)\n",
        ] {
            let records = try AccountFileTests.records(.firebase, [text]).map(\.record)
            guard case .account(let account)? = records.first else {
                Issue.record("\(text) is no account")
                continue
            }
            #expect(account.hasPassword && account.hash == nil && account.losses == [])
            #expect(account.email?.text == "a@x.test")
        }
    }

    @Test func `a number that stands in an identity alone is the person's, without a password`() {
        let user =
            #"{"localId":"1","passwordHash":"JDJiJDEwJGFi","providerUserInfo":[{"providerId":"phone","rawId":"+4930123456"}]}"#
        guard case .account(let account) = AccountFile.record(Array(user.utf8), .firebase) else {
            Issue.record("\(user) is no account")
            return
        }
        #expect(account.phone == .init(text: "+4930123456", isVerified: true))
        #expect(account.losses == [.passwordOfPhone])
    }
}
