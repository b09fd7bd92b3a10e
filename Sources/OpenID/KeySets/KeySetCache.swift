package import Cryptography
internal import Synchronization

/// A cache of one provider's key set, fetched over the network and renewed.
///
/// - A known key is returned immediately, regardless of the set's age and of fetches in progress.
/// - Concurrent callers share one fetch, and at most `waitersMax` of them wait for it.
/// - An unknown key identifier causes a fetch immediately, up to `lookupBurst` times and then once every
///   `lookupPauseSeconds`: a rotated key is found despite a few invented identifiers, and a flood of them
///   costs one successful fetch a minute.
/// - A token without a key identifier that the set's keys have not signed causes one in the same way.
/// - A failed fetch is repeated after 1 second, then 2, 4 and so on up to `retryPauseSecondsMax`.
/// - An expired set is renewed in the background, without making callers wait.
/// - While the provider can't be reached, the old keys stay in use.
///
/// Use one cache per provider, so that a slow one does not delay others.
package actor KeySetCache {
    /// Fetches the document at a URL; must itself limit its time and size.
    package typealias Fetch = @concurrent @Sendable (_ url: String) async throws -> FetchedKeySet

    /// Most callers that wait for one fetch; an unresponsive provider must not block all requests.
    package static let waitersMax = 128

    /// Most successful lookups of unknown key identifiers in a row.
    package static let lookupBurst: Int64 = 5

    /// Time after which one more lookup is allowed, in seconds.
    package static let lookupPauseSeconds: Int64 = 60

    /// Age at which a set is renewed if the provider sends no `max-age`, in seconds.
    package static let maxAgeSecondsDefault: Int64 = 3_600

    /// The accepted range of a provider's `max-age`, in seconds; other values are clamped.
    package static let maxAgeSecondsRange: ClosedRange<Int64> = 300...86_400

    /// Longest pause after failed fetches, in seconds; the first is 1 second and each next one doubles.
    package static let retryPauseSecondsMax: Int64 = 60

    private struct FetchUnderWay {
        let task: Task<Bool, Never>
        var waiterCount = 0
        /// Whether a caller waits for a key that the current set lacks.
        var isLookup = false
    }

    private let url: String
    private let now: @Sendable () -> Int64
    private let fetch: Fetch

    /// A fetched set and its renewal time.
    private struct Fresh {
        let keys: KeySet
        let until: Int64
    }

    private var current: KeySet?
    /// The current set for callers outside of the actor; written by the actor only.
    private let fresh = Mutex<Fresh?>(nil)
    private var lookupsLeft = lookupBurst
    /// The time up to which ``lookupsLeft`` has been refilled.
    private var refilledAt: Int64 = 0
    private var failures = 0
    private var lastFailure: Int64?
    private var fetchUnderWay: FetchUnderWay?

    /// Creates an empty cache; the first fetch happens at the first lookup.
    ///
    /// - Parameters:
    ///   - url: The URL of the provider's key set.
    ///   - now: Seconds of a clock that never goes back, from any origin.
    ///   - fetch: Fetches a document.
    package init(
        url: String, now: @escaping @Sendable () -> Int64 = MonotonicSeconds.now,
        fetch: @escaping Fetch = JWKSFetcher().fetch
    ) {
        self.url = url
        self.now = now
        self.fetch = fetch
    }

    /// Fetches the set once, past the cache, to see whether the provider can be reached.
    ///
    /// - Throws: The reason for which there is no key set.
    package func reach() async throws {
        _ = try await fetch(url)
    }

    /// Returns the current key set if it has the key and is not due for renewal, else nil.
    ///
    /// Does not wait: most tokens are checked without entering the actor.
    package nonisolated func known(forKeyID keyID: String?) -> KeySet? {
        guard let fresh = fresh.withLock(\.self), now() < fresh.until,
            fresh.keys.contains(id: keyID)
        else {
            return nil
        }
        return fresh.keys
    }

    /// Returns a key set that has the key, if the provider has it.
    ///
    /// If the set lacks the key, the provider did not have it within the last `lookupPauseSeconds`.
    ///
    /// - Parameter keyID: The requested key; nil for any.
    /// - Returns: A set with at least one key.
    /// - Throws: `KeysUnavailable` when the key is unknown and the provider does not answer, did not
    ///   answer a moment ago, or already has `waitersMax` waiting callers.
    package func keys(forKeyID keyID: String?) async throws(KeysUnavailable) -> KeySet {
        try await keys { $0.contains(id: keyID) }
    }

    /// Returns a key set that is wanted, if the provider has it; an unwanted one counts as one without the key.
    ///
    /// - Parameter isWanted: Whether a set has the requested key.
    /// - Returns: A set with at least one key.
    /// - Throws: `KeysUnavailable` as ``keys(forKeyID:)``.
    package func keys(
        where isWanted: @Sendable (KeySet) -> Bool
    ) async throws(KeysUnavailable) -> KeySet {
        if let current, isWanted(current) {
            renewIfOld()
            return current
        }
        if let current, fetchUnderWay == nil, !mayLookUp() {
            return current
        }
        guard await isFetched(), let current else {
            throw KeysUnavailable()
        }
        return current
    }

    /// Starts a background fetch when the set is due for renewal.
    private func renewIfOld() {
        if now() >= fresh.withLock({ $0?.until ?? .min }), fetchUnderWay == nil, mayRetry {
            _ = startFetch()
        }
    }

    /// Waits for the current or a new fetch; false when it fails or too many callers wait.
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

    /// Adds the lookups that the time since the last call allows.
    private func refillLookups() {
        let time = now()
        let earned = (time - refilledAt) / Self.lookupPauseSeconds
        lookupsLeft = min(Self.lookupBurst, lookupsLeft + earned)
        refilledAt =
            lookupsLeft == Self.lookupBurst
            ? time : refilledAt + earned * Self.lookupPauseSeconds
    }

    private func mayLookUp() -> Bool {
        refillLookups()
        return lookupsLeft > 0
    }

    private var mayRetry: Bool {
        guard let lastFailure else {
            return true
        }
        // The shift is bounded so that it can't overflow.
        let pause = min(KeySetCache.retryPauseSecondsMax, 1 << Int64(min(failures - 1, 16)))
        return now() - lastFailure >= pause
    }

    private func startFetch() -> FetchUnderWay {
        let started = FetchUnderWay(task: Task { finish(await KeySetCache.load(url, fetch)) })
        fetchUnderWay = started
        return started
    }

    /// Stores the result of a fetch; false when it failed.
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
            // A renewal that a caller waited for counts, too, whatever is left.
            refillLookups()
            lookupsLeft = max(0, lookupsLeft - 1)
        }
        current = loaded.keys
        let until = now() + loaded.maxAgeSeconds
        fresh.withLock { $0 = Fresh(keys: loaded.keys, until: until) }
        return true
    }

    /// Fetches and parses a set outside of the actor, which stays responsive meanwhile.
    ///
    /// A set without a usable key counts as a failure: a provider needs a key to sign.
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

/// The error for a provider whose keys are unavailable now; a later retry may succeed.
package struct KeysUnavailable: Error, Sendable {}
