internal import COpenSSL

extension [UInt8] {
    /// Overwrites the bytes with zeros; copies that other variables share are not wiped.
    mutating func wipe() {
        unsafe withUnsafeMutableBytes { bytes in
            unsafe OPENSSL_cleanse(bytes.baseAddress, bytes.count)
        }
    }
}
