/// The key set of one provider: fetched over the network, kept, and renewed.
///
/// - A key that is known is answered at once, however old the set is and whatever is under way.
/// - Concurrent callers share one fetch.
/// - An unknown key identifier is looked up at once, but at most once in `lookupPauseSeconds`, so
///   that a really rotated key is found and a flood of made-up identifiers costs one request.
/// - A set older than its provider said is renewed in the background, without making callers wait.
/// - When the provider can't be reached the old keys go on being served.
///
/// Use one cache for each provider: a slow one then never delays another.
package actor KeySetCache {
    /// Fetches the document at an address; must end by itself within bounded time and size.
    package typealias Fetch = @concurrent @Sendable (_ url: String) async throws -> FetchedKeySet

    /// Shortest time between two lookups that unknown key identifiers cause, in seconds.
    package static let lookupPauseSeconds: Int64 = 60

    /// Age at which a set is renewed when the provider names none, in seconds.
    package static let maxAgeSecondsDefault: Int64 = 3_600

    /// The ages a provider may name, in seconds; others are moved into this range.
    package static let maxAgeSecondsRange: ClosedRange<Int64> = 300...86_400

    /// Longest pause after failed fetches, in seconds; the first is 1 second and each one doubles.
    package static let retryPauseSecondsMax: Int64 = 60

    private let url: String
    private let now: @Sendable () -> Int64
    private let fetch: Fetch

    private var current: KeySet?
    private var freshUntil: Int64 = .min
    private var lastLookup: Int64?
    private var failures = 0
    private var lastFailure: Int64?
    private var fetchUnderWay: Task<Void, Never>?

    /// Makes an empty cache; nothing is fetched before the first question.
    ///
    /// - Parameters:
    ///   - url: Where the provider publishes its key set.
    ///   - now: Seconds of a clock that never goes back, from any origin.
    ///   - fetch: How a document is had.
    package init(
        url: String, now: @escaping @Sendable () -> Int64 = MonotonicSeconds.now,
        fetch: @escaping Fetch = JWKSFetcher().fetch
    ) {
        self.url = url
        self.now = now
        self.fetch = fetch
    }

    /// Returns a key set that has a key if the provider is known to have it.
    ///
    /// The set may lack the key: then the provider has no such key, or was asked too recently.
    ///
    /// - Parameter keyID: The key that is wanted; nil for any.
    /// - Returns: A set with at least one key.
    /// - Throws: `KeysUnavailable` when no set was ever had and the provider can't be reached now.
    package func keys(forKeyID keyID: String?) async throws(KeysUnavailable) -> KeySet {
        if let current, current.contains(id: keyID) {
            renewIfOld()
            return current
        }
        await lookUp()
        guard let current else {
            throw KeysUnavailable()
        }
        return current
    }

    /// Starts a fetch that nobody waits for when the set is old.
    private func renewIfOld() {
        if now() >= freshUntil, fetchUnderWay == nil, mayRetry {
            _ = startFetch()
        }
    }

    /// Waits for the fetch under way, or for a new one if one is due.
    private func lookUp() async {
        if let fetchUnderWay {
            await fetchUnderWay.value
            return
        }
        guard current == nil ? mayRetry : mayLookUp else {
            renewIfOld()
            return
        }
        if current != nil {
            lastLookup = now()
        }
        await startFetch().value
    }

    private var mayLookUp: Bool {
        guard let lastLookup else {
            return true
        }
        return now() - lastLookup >= KeySetCache.lookupPauseSeconds
    }

    private var mayRetry: Bool {
        guard let lastFailure else {
            return true
        }
        // Shifting is bounded by what the longest pause needs.
        let pause = min(KeySetCache.retryPauseSecondsMax, 1 << Int64(min(failures - 1, 16)))
        return now() - lastFailure >= pause
    }

    private func startFetch() -> Task<Void, Never> {
        let task = Task {
            finish(await KeySetCache.load(url, fetch))
        }
        fetchUnderWay = task
        return task
    }

    private func finish(_ loaded: (keys: KeySet, maxAgeSeconds: Int64)?) {
        fetchUnderWay = nil
        guard let loaded else {
            failures += 1
            lastFailure = now()
            return
        }
        failures = 0
        lastFailure = nil
        current = loaded.keys
        freshUntil = now() + loaded.maxAgeSeconds
    }

    /// Fetches and reads a set away from the actor, which goes on answering meanwhile.
    ///
    /// A set without a usable key counts as a failure: a provider without keys signs nothing.
    @concurrent private static func load(
        _ url: String, _ fetch: Fetch
    ) async -> (keys: KeySet, maxAgeSeconds: Int64)? {
        guard
            let fetched = try? await fetch(url),
            let keys = KeySet(jwks: fetched.body), !keys.isEmpty
        else {
            return nil
        }
        let maxAge = fetched.maxAgeSeconds ?? maxAgeSecondsDefault
        let range = maxAgeSecondsRange
        return (keys, min(max(maxAge, range.lowerBound), range.upperBound))
    }
}

/// A provider's keys were never had and can't be had now; worth a new try later.
package struct KeysUnavailable: Error, Sendable {}
