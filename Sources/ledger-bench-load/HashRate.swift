import Dispatch
import Foundation
import Passwords
import Synchronization

/// The number of passwords that the machine hashes a second, without a server.
enum HashRate {
    /// Hashes on all processors for some seconds.
    ///
    /// - Throws: `LoadFailure` when the library refuses.
    static func measure(seconds: Int) throws(LoadFailure) -> Int {
        let hasher = PasswordHasher()
        guard let password = try? Password("correct horse battery staple").prepared else {
            throw LoadFailure(description: "the password has no prepared form")
        }
        let begin = ContinuousClock.now
        let counts = Mutex((done: 0, failed: 0))
        DispatchQueue.concurrentPerform(
            iterations: ProcessInfo.processInfo.activeProcessorCount
        ) { _ in
            while ContinuousClock.now < begin + .seconds(seconds) {
                let isHashed = (try? hasher.hash(password)) != nil
                counts.withLock { $0 = ($0.done + 1, $0.failed + (isHashed ? 0 : 1)) }
            }
        }
        let (done, failed) = counts.withLock(\.self)
        guard failed == 0 else { throw LoadFailure(description: "a password can't be hashed") }
        let elapsed = ContinuousClock.now - begin
        return Int(Double(done) / (elapsed / .seconds(1)))
    }
}
