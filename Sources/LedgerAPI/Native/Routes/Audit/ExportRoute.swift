internal import HTTP
internal import Ledger

/// `POST /v1/exports`: a bundle of the log or of one account, without personal data, as a tar.
struct ExportRoute: Route {
    static let method = "POST"
    static let path = "/v1/exports"
    static let operation = Operation(
        id: "export_bundle", tag: .log,
        summary: "A bundle of the log or of one account, without personal data, as a tar",
        about: "Anyone can verify it. The manifest is its last file: a bundle without one is"
            + " incomplete, because the export failed or the connection broke.",
        access: .principal(.accessLogReaders), parameters: [ReasonHeader.beside],
        body: ExportBody.self,
        answers: .text("application/x-tar", "bundle.json..."),
        refusals: [.noProof(.nothingSigned), .refused(.unknownAccount), .proofFailed],
        headers: ["Content-Disposition"])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.exportLog)
        _ = try QueryParameters(call)
        let account = try Self.account(try call.body())
        try await auditRequest.record(
            ["format": "bundle", "scope": account == nil ? "all" : "account"], account: account,
            isDisclosed: false)
        let bundle: any BundleBytes
        do {
            bundle = try await call.services.audit.bundles.bundle(of: account, in: call.tenant)
        } catch {
            throw APIError(error)
        }
        let scope = account.map(\.description) ?? call.tenant.description
        return HTTPResponse(
            status: 200,
            headers: [
                ("Content-Type", "application/x-tar"),
                (
                    "Content-Disposition",
                    "attachment; filename=\"account-ledger-\(scope)-\(bundle.size).tar\""
                ),
            ]
        ) { stream in
            do {
                while let bytes = try await bundle.next() {
                    guard await stream.write(bytes) else { break }
                }
            } catch {
                stream.abort()
            }
        }
    }

    private static func account(_ body: RequestBody) throws(APIError) -> AccountID? {
        guard let text = try body.text(ExportBody.account) else { return nil }
        guard let account = AccountID(text) else {
            throw .invalidRequest(
                RequestFlaw("account_id must be an account id", at: .field("account_id")))
        }
        return account
    }
}

/// The body of an export.
enum ExportBody: BodyForm {
    static let name = "ExportRequest"
    static let account = OptionalText(
        name: "account_id", bytesMax: 36, about: "Only the events that touch this account",
        example: ExampleValue.account, isInExample: true)
    static let members: [any BodyMember] = [account, ReasonHeader.member]
    static let mayBeEmpty = true
}

extension APIError {
    fileprivate init(_ refusal: ExportRefusal) {
        switch refusal {
        case .nothingSigned: self = .noProof(.nothingSigned)
        case .unknownAccount: self = .refused(.unknownAccount)
        case .damaged: self = .proofFailed
        case .overloaded: self = .faulted(.overloaded)
        case .unavailable: self = .faulted(.unavailable)
        }
    }
}
