internal import HTTP
internal import Ledger

extension RouteCall {
    /// The provider's name in the path; nil when it breaks the grammar, so no tenant can have it.
    var provider: ProviderName? { captures["provider"].flatMap(ProviderName.init) }

    /// The same for a provider that sends codes.
    var codeProvider: ProviderName? { captures["code_provider"].flatMap(ProviderName.init) }

    /// The account that the path names; nil when the id is malformed.
    var namedAccount: AccountID? { captures["id"].flatMap { AccountID($0) } }

    /// Returns the account that the path names.
    ///
    /// - Throws: 404 when the id is malformed.
    func account() throws(APIError) -> AccountID {
        guard let account = namedAccount else { throw .refused(.unknownAccount) }
        return account
    }
}
