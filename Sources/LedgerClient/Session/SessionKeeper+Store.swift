/// Reads and changes the stored state, one process at a time.
extension SessionKeeper {
    /// Reads the state: the one that is stored, or the one that the store has not taken.
    func load() async throws(LedgerError) -> StoredState {
        do {
            let stored = try await store.load() ?? StoredState()
            if let unsaved, unsaved.replaces(stored) { return unsaved.state }
            return stored
        } catch {
            guard let unsaved else { throw Self.failed(error) }
            return unsaved.state
        }
    }

    /// The same, while no other process changes it.
    func loadAlone() async throws(LedgerError) -> StoredState {
        if let unsaved, let stored = try? await store.load() ?? StoredState(),
            !unsaved.replaces(stored)
        {
            self.unsaved = nil
            storeFailure = nil
        }
        return try await load()
    }

    func save(_ state: StoredState) async throws(LedgerError) {
        do {
            try await store.save(state.isEmpty ? nil : state)
            unsaved = nil
            storeFailure = nil
        } catch {
            let failure = Self.failed(error)
            storeFailure = failure
            throw failure
        }
    }

    /// Saves a state that must not be lost, or keeps it here without the lock or if the store fails; returns whether it
    /// is stored.
    @discardableResult
    func saveOrKeep(
        _ state: StoredState, insteadOf replaced: StoredState?, isLocked: Bool
    ) async -> Bool {
        if isLocked, (try? await save(state)) != nil { return true }
        unsaved = UnsavedState(state: state, replaced: replaced)
        return false
    }

    /// Saves the mark of a refresh that begins, and returns the state that is stored then.
    ///
    /// A session that the store never had is marked here if the store fails, since it would end with its access token.
    func mark(
        _ state: StoredState, isLocked: Bool
    ) async throws(LedgerError) -> StoredState? {
        guard let former = unsaved, former.isNewSignIn else {
            guard isLocked else { throw Self.failed(StoreError("The store cannot be locked")) }
            try await save(state)
            return state
        }
        let isStored = await saveOrKeep(state, insteadOf: former.replaced, isLocked: isLocked)
        return isStored ? state : former.replaced
    }

    /// Changes the state, also if it cannot be stored or read, and returns whether it is stored; nil if it is left
    /// as it is, because with an account it has to be that one's.
    ///
    /// It goes on when the caller is cancelled. Without `startsAnew`, a state that cannot be read is left as it is.
    func keep(
        for account: String?, startsAnew: Bool = true,
        _ work: @escaping @Sendable (inout StoredState) -> Void
    ) async -> Bool? {
        let task = Task { () -> Bool? in
            do throws(StoreError) {
                return try await store.exclusively {
                    await self.keepAlone(for: account, startsAnew, work, isLocked: true)
                }
            } catch {
                storeFailure = Self.failed(error)
                return await keepAlone(for: account, startsAnew, work, isLocked: false)
            }
        }
        return await task.value
    }

    private func keepAlone(
        for account: String?, _ startsAnew: Bool, _ work: @Sendable (inout StoredState) -> Void,
        isLocked: Bool
    ) async -> Bool? {
        var replaced = try? await store.load() ?? StoredState()
        var state: StoredState
        do throws(LedgerError) {
            state = try await load()
            if let account, state.userID != account { return nil }
            if !startsAnew { replaced = replaced ?? unsaved?.replaced }
        } catch {
            storeFailure = error
            guard startsAnew else { return nil }
            // A damaged store locks no person out.
            state = StoredState()
        }
        work(&state)
        return await saveOrKeep(state, insteadOf: replaced, isLocked: isLocked)
    }

    /// Changes the stored state while no other process does, also if the caller is cancelled.
    ///
    /// With `startsAnew`, a state that cannot be read is replaced, so that a damaged store locks no person out.
    func change(
        startsAnew: Bool = false, _ work: @escaping @Sendable (inout StoredState) -> Void
    ) async throws(LedgerError) {
        let task = Task { () -> Result<Void, LedgerError> in
            do throws(StoreError) {
                return try await store.exclusively { await self.changeAlone(startsAnew, work) }
            } catch {
                return .failure(Self.failed(error))
            }
        }
        try await task.value.get()
    }

    private func changeAlone(
        _ startsAnew: Bool, _ work: @Sendable (inout StoredState) -> Void
    ) async -> Result<Void, LedgerError> {
        do throws(LedgerError) {
            var state =
                startsAnew ? (try? await loadAlone()) ?? StoredState() : try await loadAlone()
            work(&state)
            try await save(state)
            return .success(())
        } catch {
            return .failure(error)
        }
    }
}
