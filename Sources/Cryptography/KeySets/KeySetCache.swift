internal import Synchronization

/// The key set of one provider: fetched over the network, kept, and renewed.
///
/// - A key that is known is answered at once, however old the set is and whatever is under way.
/// - Concurrent callers share one fetch, and at most `waitersMax` of them wait for it.
/// - An unknown key identifier is looked up at once, but not within `lookupPauseSeconds` of the last
///   lookup that succeeded, so that a really rotated key is found and a flood of made-up
///   identifiers costs one good fetch a minute.
/// - A failed fetch is repeated after 1 second, then 2, 4 and so on up to `retryPauseSecondsMax`.
/// - A set older than its provider said is renewed in the background, without making callers wait.
/// - When the provider can't be reached the old keys go on being served.
///
/// Use one cache for each provider: a slow one then never delays another.
package actor KeySetCache {
    /// Fetches the document at an address; must end by itself within bounded time and size.
    package typealias Fetch = @concurrent @Sendable (_ url: String) async throws -> FetchedKeySet

    /// Most callers that wait for one fetch; a silent provider must not hold up every request.
    package static let waitersMax = 128

    /// Shortest time between two good lookups that unknown key identifiers cause, in seconds.
    package static let lookupPauseSeconds: Int64 = 60

    /// Age at which a set is renewed when the provider names none, in seconds.
    package static let maxAgeSecondsDefault: Int64 = 3_600

    /// The ages a provider may name, in seconds; others are moved into this range.
    package static let maxAgeSecondsRange: ClosedRange<Int64> = 300...86_400

    /// Longest pause after failed fetches, in seconds; the first is 1 second and each one doubles.
    package static let retryPauseSecondsMax: Int64 = 60

    private struct FetchUnderWay {
        let task: Task<Bool, Never>
        var waiterCount = 0
        /// Whether somebody waits for a key that the set at hand lacks.
        var isLookup = false
    }

    private let url: String
    private let now: @Sendable () -> Int64
    private let fetch: Fetch

    /// A set that was fetched, and until when it need not be renewed.
    private struct Fresh {
        let keys: KeySet
        let until: Int64
    }

    private var current: KeySet?
    /// What anybody may read without waiting for the actor; written by the actor only.
    private let fresh = Mutex<Fresh?>(nil)
    private var lastLookup: Int64?
    private var failures = 0
    private var lastFailure: Int64?
    private var fetchUnderWay: FetchUnderWay?

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

    /// Returns the key set at hand when it has the key and need not be renewed; nil says nothing.
    ///
    /// Does not wait: nearly every token is checked without a turn of the actor.
    package nonisolated func known(forKeyID keyID: String?) -> KeySet? {
        guard let fresh = fresh.withLock(\.self), now() < fresh.until,
            fresh.keys.contains(id: keyID)
        else {
            return nil
        }
        return fresh.keys
    }

    /// Returns a key set that has a key if the provider is known to have it.
    ///
    /// The set may lack the key: then the provider, asked in the last `lookupPauseSeconds`, had no
    /// such key.
    ///
    /// - Parameter keyID: The key that is wanted; nil for any.
    /// - Returns: A set with at least one key.
    /// - Throws: `KeysUnavailable` when the key is unknown and the provider can't be asked now: it
    ///   does not answer, did not a moment ago, or `waitersMax` callers wait for its answer.
    package func keys(forKeyID keyID: String?) async throws(KeysUnavailable) -> KeySet {
        if let current, current.contains(id: keyID) {
            renewIfOld()
            return current
        }
        if let current, fetchUnderWay == nil, !mayLookUp {
            return current
        }
        guard await isFetched(), let current else {
            throw KeysUnavailable()
        }
        return current
    }

    /// Starts a fetch that nobody waits for when the set is old.
    private func renewIfOld() {
        if now() >= fresh.withLock({ $0?.until ?? .min }), fetchUnderWay == nil, mayRetry {
            _ = startFetch()
        }
    }

    /// Waits for the fetch under way, or for a new one; false when it fails or can't be waited for.
    private func isFetched() async -> Bool {
        guard var awaited = fetchUnderWay ?? (mayRetry ? startFetch() : nil) else {
            return false
        }
        guard awaited.waiterCount < KeySetCache.waitersMax else {
            return false
        }
        awaited.waiterCount += 1
        awaited.isLookup = current != nil
        fetchUnderWay = awaited
        return await awaited.task.value
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

    private func startFetch() -> FetchUnderWay {
        let started = FetchUnderWay(task: Task { finish(await KeySetCache.load(url, fetch)) })
        fetchUnderWay = started
        return started
    }

    /// Takes in what a fetch gave; false when that is nothing.
    private func finish(_ loaded: (keys: KeySet, maxAgeSeconds: Int64)?) -> Bool {
        let isLookup = fetchUnderWay?.isLookup ?? false
        fetchUnderWay = nil
        guard let loaded else {
            failures += 1
            lastFailure = now()
            return false
        }
        failures = 0
        lastFailure = nil
        if isLookup {
            lastLookup = now()
        }
        current = loaded.keys
        let until = now() + loaded.maxAgeSeconds
        fresh.withLock { $0 = Fresh(keys: loaded.keys, until: until) }
        return true
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

/// A provider can't be asked for its keys now; worth a new try later.
package struct KeysUnavailable: Error, Sendable {}
