/// A state that the store did not take, which is saved later.
struct UnsavedState {
    let state: StoredState
    /// The state that is stored in its place; nil if that could not be read.
    let replaced: StoredState?

    /// Whether the state takes the place of a stored one: not of a session that another process has saved since, but a
    /// sign-in takes that of a renewal or of an end of the session before it.
    func replaces(_ stored: StoredState) -> Bool {
        guard let replaced else { return true }
        if let session = state.session, !session.isOfSignIn(of: replaced.session) {
            return stored.session?.isOfSignIn(of: replaced.session) ?? true
        }
        return replaced.session?.refreshToken == stored.session?.refreshToken
    }
}
