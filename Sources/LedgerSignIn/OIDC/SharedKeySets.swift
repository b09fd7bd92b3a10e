internal import OpenID

/// The key sets of a providers file: providers with the same URL share one cache.
struct SharedKeySets {
    private var caches: [String: KeySetCache] = [:]

    /// Returns the cache of a URL.
    mutating func cache(of url: String) -> KeySetCache {
        let cache = caches[url] ?? KeySetCache(url: url)
        caches[url] = cache
        return cache
    }
}
