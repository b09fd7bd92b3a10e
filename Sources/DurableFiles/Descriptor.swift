import Foundation

/// An open file or directory, closed with its owner.
final class Descriptor {
    private let path: String
    private let number: Int32

    /// Opens a path; a created file is accessible to its owner only.
    init(of path: String, _ flags: Int32) throws(FileFault) {
        self.path = path
        number = unsafe open(path, flags | O_CLOEXEC, DurableDirectory.fileMode)
        guard number >= 0 else { throw FileFault(path: path, reason: "can't be opened") }
    }

    deinit {
        close(number)
    }

    /// Writes all of the bytes.
    func write(_ bytes: [UInt8]) throws(FileFault) {
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Foundation.write(
                    number, buffer.baseAddress?.advanced(by: done), buffer.count - done)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw FileFault(path: path, reason: "can't be written") }
            done += count
        }
    }

    /// Waits until written data is on the disk.
    func sync() throws(FileFault) {
        guard fsync(number) == 0 else {
            throw FileFault(path: path, reason: "can't be made durable")
        }
    }

    /// Waits for the lock of this file, and holds it until this object is released.
    func lock() throws(FileFault) {
        while flock(number, LOCK_EX) != 0 {
            guard errno == EINTR else { throw FileFault(path: path, reason: "can't be locked") }
        }
    }
}
