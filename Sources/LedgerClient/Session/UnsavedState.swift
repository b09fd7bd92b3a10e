/// A state that the store did not take, which is saved later.
struct UnsavedState {
    let state: StoredState
    /// The state that is stored in its place; nil if that could not be read.
    let replaced: StoredState?

    /// Whether the session is of a sign-in that the store never had, so that no other process knows it.
    var isNewSignIn: Bool {
        state.session.map { !$0.isOfSignIn(of: replaced?.session) } ?? false
    }

    /// Whether the state takes the place of a stored one: not of a session that another process has saved since, but a
    /// sign-in takes that of a renewal or of an end of the session before it.
    func replaces(_ stored: StoredState) -> Bool {
        guard let replaced else {
            // The store may have taken the sign-in all the same, and another process may have renewed it.
            return isNewSignIn && state.session?.isOfSignIn(of: stored.session) == false
        }
        if isNewSignIn { return stored.session?.isOfSignIn(of: replaced.session) ?? true }
        return replaced.session?.refreshToken == stored.session?.refreshToken
    }
}
