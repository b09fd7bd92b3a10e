import Cryptography
import Foundation
import JSON

/// JSON documents, compared with Foundation's parser.
///
/// The two must agree, except that `JSONValue` deliberately refuses duplicate members, nesting deeper
/// than `JSONValue.depthMax`, lone surrogates in escapes, byte order marks and encodings other than
/// UTF-8, and that Foundation accepts a comma before a closing bracket, drops byte order marks within
/// strings, and refuses numbers outside a double's range.
enum JSONTarget {
    static let target = FuzzTarget(
        "json",
        corpus: [
            #"{"id_token":"eyJ.a.b","nonce":null,"create_account":true}"#,
            #"{"a":[1,-0,2.5e3,1E-2,{"b":"\u00e9\n\"\\/ \ud83d\ude00"}],"c":false}"#,
            #" [ ] "#, #""text é 😀""#, "-12.75", "null", #"{"refresh_token":"AQ"}"#,
            #"{"everywhere":true}"#, #"[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]"#,
        ],
        words: [
            "true", "false", "null", "{", "}", "[", "]", ":", ",", "\"", "\\", "\\u", "\\ud800",
            "\\udc00", "\\u0000", "1e400", "-", "0.", ".5", "1e", "nan", "Infinity", "\u{FEFF}",
            #""a":1"#, #","a":"#, " \t\r\n", "/**/", "'", "01", "\\u00ZZ",
        ]
    ) { input in
        let ours = JSONValue(parsing: input)
        let theirs = try? JSONSerialization.jsonObject(
            with: Data(input), options: .fragmentsAllowed)
        switch (ours, theirs) {
        case (nil, nil): return false
        case (let ours?, nil):
            try require(holdsHugeNumber(ours) || holdsLongNumber(input), "Foundation refuses it")
            return true
        case (nil, let theirs?):
            let outline = Outline(input)
            let isRefusedOnPurpose =
                outline.depth > JSONValue.depthMax || outline.isNoPlainUTF8
                || outline.holdsTrailingComma || outline.holdsSurrogateEscape
                || outline.memberCount != memberCount(theirs)
                || String(validating: input, as: UTF8.self) == nil
            try require(isRefusedOnPurpose, "only Foundation accepts it")
            return false
        case (let ours?, let theirs?):
            // Foundation drops byte order marks within strings.
            let holdsMark = input.firstRange(of: [0xEF, 0xBB, 0xBF]) != nil
            try require(holdsMark || isSame(ours, theirs), "Foundation reads another value")
            return true
        }
    }

    private static func holdsHugeNumber(_ value: JSONValue) -> Bool {
        switch value {
        case .number(let number): !number.isFinite || number == 0 || abs(number) < 1e-300
        case .array(let elements): elements.contains(where: holdsHugeNumber)
        case .object(let members): members.contains { holdsHugeNumber($0.value) }
        case .null, .bool, .string: false
        }
    }

    /// Foundation limits the digits of a number; `JSONValue` does not.
    private static func holdsLongNumber(_ input: [UInt8]) -> Bool {
        input.split { !(0x30...0x39).contains($0) && $0 != 0x2E }.contains { $0.count > 30 }
    }

    private static func memberCount(_ value: Any) -> Int {
        if let members = value as? [String: Any] {
            return members.count + members.values.map(memberCount).reduce(0, +)
        }
        return (value as? [Any])?.map(memberCount).reduce(0, +) ?? 0
    }

    private static func isSame(_ ours: JSONValue, _ theirs: Any) -> Bool {
        switch ours {
        case .null: return theirs is NSNull
        case .bool(let flag): return theirs as? Bool == flag
        case .number(let number):
            guard let other = (theirs as? NSNumber)?.doubleValue else { return false }
            return number == other || !number.isFinite || abs(number - other) <= abs(number) * 1e-9
        case .string(let text):
            return (theirs as? String).map { $0.utf8.elementsEqual(text.utf8) } ?? false
        case .array(let elements):
            guard let others = theirs as? [Any], others.count == elements.count else {
                return false
            }
            return zip(elements, others).allSatisfy { isSame($0, $1) }
        case .object(let members):
            // In Foundation's dictionary, names that only differ in Unicode composition are equal.
            guard let others = theirs as? [String: Any] else { return false }
            guard others.count == members.count else { return others.count < members.count }
            return members.allSatisfy { name, value in
                others[name].map { isSame(value, $0) } ?? false
            }
        }
    }

    /// Properties of a document that need no parser.
    private struct Outline {
        var depth = 0
        var memberCount = 0
        var holdsTrailingComma = false
        let isNoPlainUTF8: Bool
        let holdsSurrogateEscape: Bool

        init(_ input: [UInt8]) {
            isNoPlainUTF8 = input.starts(with: [0xEF, 0xBB, 0xBF]) || input.contains(0)
            var level = 0
            var isInString = false
            var isEscaped = false
            var surrogate = false
            var last: UInt8 = 0
            for (index, byte) in input.enumerated() {
                if isInString {
                    if isEscaped {
                        isEscaped = false
                        let next = index + 1 < input.count ? input[index + 1] | 0x20 : 0
                        if byte == UInt8(ascii: "u"), next == UInt8(ascii: "d") { surrogate = true }
                    } else if byte == UInt8(ascii: "\\") {
                        isEscaped = true
                    } else if byte == UInt8(ascii: "\"") {
                        isInString = false
                    }
                    continue
                }
                switch byte {
                case UInt8(ascii: "\""): isInString = true
                case UInt8(ascii: "{"), UInt8(ascii: "["): level += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"): level -= 1
                case UInt8(ascii: ":"): memberCount += 1
                default: break
                }
                depth = max(depth, level)
                if byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}") {
                    holdsTrailingComma = holdsTrailingComma || last == UInt8(ascii: ",")
                }
                if !(byte <= 0x20) { last = byte }
            }
            holdsSurrogateEscape = surrogate
        }
    }
}
