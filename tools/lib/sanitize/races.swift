// Four threads change a list protected by a Mutex; with the argument `planted`, also an unprotected variable.

import Foundation
import Synchronization

final class Shared: Sendable {
    let list = Mutex<[Int]>([])
}

// Protected by nothing: that is the race.
final class Racing: @unchecked Sendable {
    var count = 0
}

let shared = Shared()
let racing = Racing()
let isPlanted = CommandLine.arguments.contains("planted")
let group = DispatchGroup()
for _ in 0..<4 {
    group.enter()
    let thread = Thread {
        for number in 0..<20_000 {
            shared.list.withLock { list in
                list.append(number)
                if list.count > 64 { list = [] }
            }
            if isPlanted { racing.count += 1 }
        }
        group.leave()
    }
    thread.start()
}
group.wait()
print(shared.list.withLock(\.count))
