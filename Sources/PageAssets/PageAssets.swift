internal import CPageAssets
internal import Cryptography
internal import Encodings

/// A file of the pages for people.
package struct PageAsset: Sendable {
    /// The path below the folder of the files, such as `lib/el.mjs`.
    package let path: String
    /// The value of `Content-Type`.
    package let mediaType: String
    /// The content.
    package let bytes: [UInt8]
    /// The value of `ETag`: SHA-256 of the content.
    package let entityTag: String

    init(path: String, mediaType: String, bytes: [UInt8]) {
        self.path = path
        self.mediaType = mediaType
        self.bytes = bytes
        entityTag = "\"\(Base64URL.encode(SHA256.hash(bytes)))\""
    }
}

/// The files of the pages for people, which are part of the executable.
package enum PageAssets {
    /// Every file by its path.
    package static let all: [String: PageAsset] = {
        var all: [String: PageAsset] = [:]
        var number = 0
        while let file = unsafe page_asset(number)?.pointee {
            let bytes = unsafe UnsafeBufferPointer(start: file.bytes, count: file.count)
            let asset = unsafe PageAsset(
                path: String(cString: file.path), mediaType: String(cString: file.media_type),
                bytes: Array(bytes))
            all[asset.path] = asset
            number += 1
        }
        return all
    }()
}
