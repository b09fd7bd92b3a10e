/// A state that the store did not take, which is saved later.
struct UnsavedState {
    let state: StoredState
    /// The state that is stored in its place; nil if that could not be read.
    let replaced: StoredState?

    /// Whether the state takes the place of a stored one: not of a session that another process has saved since.
    func replaces(_ stored: StoredState) -> Bool {
        replaced.map { $0.session?.refreshToken == stored.session?.refreshToken } ?? true
    }
}
