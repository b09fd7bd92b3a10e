internal import HTTP
internal import Ledger

/// `DELETE /v1/accounts/{id}`: erases the person of an account, for an administrator and with a reason.
///
/// Repeating it answers the same. `?basis=` says on what ground; `data_subject_request` unless it does.
struct EraseAccountRoute: Route {
    static let method = "DELETE"
    static let path = "/v1/accounts/{id}"

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let visit = try await call.visit(
            .eraseAccount, by: .administrators, account: call.namedAccount)
        let query = try QueryParameters(call.request, ["basis"])
        let basis = try query.value("basis", Self.bases) { text in
            AccountErased.Basis(rawValue: text).flatMap { $0.canBeAsked ? $0 : nil }
        }
        let account = try call.account()
        let command = EraseAccount(
            account: account, basis: basis ?? .dataSubjectRequest, actor: .apiKey(visit.principal))
        let reply = try await visit.carryOut(.eraseAccount(command), details: query.details)
        guard case .erased(let position, let isNew, let covering) = reply else {
            throw .faulted(.internalFailure)
        }
        return .json(
            ErasedAnswer(account: account, position: position, isNew: isNew, covering: covering))
    }

    private static let bases = AccountErased.Basis.allCases.filter(\.canBeAsked)
        .map(\.rawValue).joined(separator: ", ")
}

/// That an account is erased, by this request or one before it.
struct ErasedAnswer: JSONWritable {
    let account: AccountID
    let position: LogPosition
    let isNew: Bool
    /// The other accounts that were erased with it, because merges had made them one.
    let covering: [AccountID]

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("account", account.description)
            writer.member("position", position.description)
            writer.name("erased_before")
            writer.flag(!isNew)
            writer.name("covers")
            writer.texts(covering.map(\.description))
        }
    }
}

extension RouteCall {
    /// The account that the path names; nil when it can be none.
    var namedAccount: AccountID? { captures["id"].flatMap { AccountID($0) } }

    /// The account that the path names.
    ///
    /// - Throws: 404 when it can be none.
    func account() throws(APIError) -> AccountID {
        guard let account = namedAccount else { throw .refused(.unknownAccount) }
        return account
    }
}

extension Set<Role> {
    /// Those who change the ledger from outside of an account.
    static let administrators: Set<Role> = [.admin]
}
