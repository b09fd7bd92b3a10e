/// Base64 with the URL-safe alphabet and without padding, RFC 4648 section 5 and RFC 7515 section 2.
///
/// A byte sequence has exactly one text: padding, white space, other alphabets and non-zero trailing
/// bits are refused, so that a signed text has no second spelling.
package enum Base64URL {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    private static let notInAlphabet: UInt8 = 0xFF

    private static let values: [UInt8] = {
        var table = [UInt8](repeating: notInAlphabet, count: 256)
        for (value, character) in alphabet.enumerated() {
            table[Int(character)] = UInt8(value)
        }
        return table
    }()

    /// Returns the number of characters for a number of bytes.
    package static func textCount(_ byteCount: Int) -> Int {
        (byteCount * 4 + 2) / 3
    }

    /// Encodes bytes as text.
    package static func encode(_ bytes: [UInt8]) -> String {
        let count = textCount(bytes.count)
        return unsafe String(unsafeUninitializedCapacity: count) { output in
            unsafe bytes.withUnsafeBufferPointer { input in
                unsafe write(input, to: output)
            }
            return count
        }
    }

    /// Decodes text; nil when it is not canonical.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        // Texts are contiguous unless Foundation bridged them.
        let decoded = text.utf8.withContiguousStorageIfAvailable { characters in
            unsafe decode(characters)
        }
        return decoded ?? decode(String(text))
    }

    /// Decodes ASCII text; nil when it is not canonical.
    package static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        let rest = text.count % 4
        // A single last character has too few bits for a byte.
        guard rest != 1 else {
            return nil
        }
        let count = text.count * 3 / 4
        var isCanonical = false
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { output, filled in
            isCanonical = unsafe values.withUnsafeBufferPointer { table in
                unsafe read(text, into: output, table)
            }
            filled = isCanonical ? count : 0
        }
        return isCanonical ? bytes : nil
    }

    /// Writes the text of bytes; the output must have the capacity.
    package static func write(
        _ input: UnsafeBufferPointer<UInt8>, to output: UnsafeMutableBufferPointer<UInt8>
    ) {
        precondition(
            output.count >= textCount(input.count), "a text needs four characters for three bytes")
        unsafe alphabet.withUnsafeBufferPointer { letters in
            unsafe write(input, to: output, letters)
        }
    }

    private static func write(
        _ input: UnsafeBufferPointer<UInt8>, to output: UnsafeMutableBufferPointer<UInt8>,
        _ letters: UnsafeBufferPointer<UInt8>
    ) {
        func letter(_ group: UInt32, _ shift: UInt32) -> UInt8 {
            unsafe letters[Int(group >> shift & 0x3F)]
        }
        var source = 0
        var target = 0
        while source + 3 <= input.count {
            let group =
                unsafe UInt32(input[source]) << 16 | UInt32(input[source + 1]) << 8
                | UInt32(input[source + 2])
            unsafe output[target] = letter(group, 18)
            unsafe output[target + 1] = letter(group, 12)
            unsafe output[target + 2] = letter(group, 6)
            unsafe output[target + 3] = letter(group, 0)
            source += 3
            target += 4
        }
        let left = input.count - source
        guard left > 0 else {
            return
        }
        let second = left == 2 ? unsafe UInt32(input[source + 1]) << 8 : 0
        let group = unsafe UInt32(input[source]) << 16 | second
        unsafe output[target] = letter(group, 18)
        unsafe output[target + 1] = letter(group, 12)
        if left == 2 {
            unsafe output[target + 2] = letter(group, 6)
        }
    }

    /// Fills the output; false for a character outside the alphabet or a non-zero trailing bit.
    private static func read(
        _ text: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>,
        _ table: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        var seen: UInt32 = 0
        var source = 0
        var target = 0
        while source + 4 <= text.count {
            let a = UInt32(unsafe table[Int(text[source])])
            let b = UInt32(unsafe table[Int(text[source + 1])])
            let c = UInt32(unsafe table[Int(text[source + 2])])
            let d = UInt32(unsafe table[Int(text[source + 3])])
            // A character outside the alphabet has two bits set that no value of the alphabet has.
            seen |= a | b | c | d
            let group = a << 18 | b << 12 | c << 6 | d
            unsafe output[target] = UInt8(truncatingIfNeeded: group >> 16)
            unsafe output[target + 1] = UInt8(truncatingIfNeeded: group >> 8)
            unsafe output[target + 2] = UInt8(truncatingIfNeeded: group)
            source += 4
            target += 3
        }
        var group: UInt32 = 0
        var bitCount: UInt32 = 0
        while source < text.count {
            let value = UInt32(unsafe table[Int(text[source])])
            seen |= value
            group = group << 6 | value
            bitCount += 6
            source += 1
        }
        while bitCount >= 8 {
            bitCount -= 8
            unsafe output[target] = UInt8(truncatingIfNeeded: group >> bitCount)
            target += 1
        }
        let leftOver = group & (1 << bitCount - 1)
        return seen < 64 && leftOver == 0
    }
}
