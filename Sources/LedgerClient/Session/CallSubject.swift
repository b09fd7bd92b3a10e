/// The sessions for which a call is meant: nothing that was asked of one account is done to another.
enum CallSubject: Sendable {
    /// Those of the account that was shown; with nil, of whichever is stored.
    case account(String?)
    /// That of one sign-in, and of no later one, even of the same person.
    case signIn(StoredState.Session)

    func includes(_ session: StoredState.Session) -> Bool {
        switch self {
        case .account(let userID): userID == nil || userID == session.profile.userID
        case .signIn(let other): session.isOfSignIn(of: other)
        }
    }
}
