internal import CSpawn
internal import Glibc

/// The arguments of `posix_spawn`.
struct Spawning {
    let executable: String
    let arguments: [String]
    /// The environment as `NAME=value`.
    let environment: [String]
    let directory: String?
    /// Standard input, output and error.
    let streams: [ChildProcess.Stream]

    /// Starts the child.
    ///
    /// - Returns: its process id, and 0 or the number of the error.
    func run() -> (id: Int32, code: Int32) {
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        unsafe prepare(&actions)
        prepare(&attributes)
        var id: Int32 = 0
        let code = unsafe Self.withCStrings([executable] + arguments) { arguments in
            unsafe Self.withCStrings(environment) { environment in
                unsafe posix_spawn(
                    &id, executable, &actions, &attributes, arguments, environment)
            }
        }
        return (id: id, code: code)
    }

    private func prepare(_ actions: inout posix_spawn_file_actions_t) {
        if let directory { unsafe posix_spawn_file_actions_addchdir_np(&actions, directory) }
        for (number, stream) in streams.enumerated() {
            switch stream {
            case .null:
                unsafe posix_spawn_file_actions_addopen(
                    &actions, Int32(number), "/dev/null", number == 0 ? O_RDONLY : O_WRONLY, 0)
            case .inherited: break
            case .file(let descriptor):
                unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
            }
        }
        unsafe posix_spawn_file_actions_addclosefrom_np(&actions, Int32(streams.count))
    }

    private func prepare(_ attributes: inout posix_spawnattr_t) {
        // The calling thread may block signals that should end the child.
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK))
    }

    /// Passes texts to the body as a null-terminated array of C strings.
    private static func withCStrings(
        _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Int32
    ) -> Int32 {
        var strings: [UnsafeMutablePointer<CChar>?] = unsafe texts.map { unsafe strdup($0) }
        unsafe strings.append(nil)
        defer { unsafe strings.forEach { unsafe free($0) } }
        return unsafe body(strings)
    }
}
