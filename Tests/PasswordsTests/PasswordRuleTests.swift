import Foundation
import Testing

@testable import Passwords

/// Rules for new passwords, and the blocklist.
@Suite struct PasswordRuleTests {
    private func refusal(
        _ text: String, lengthMin: Int = 8, blocklist: PasswordBlocklist = .empty
    ) throws -> PasswordRefusal? {
        let rule = try #require(PasswordRule(lengthMin: lengthMin, blocklist: blocklist))
        do throws(PasswordRefusal) {
            _ = try rule.check(Password(text))
            return nil
        } catch {
            return error
        }
    }

    @Test func `the length is that of the prepared form in code points`() throws {
        #expect(try refusal("1234567") == .tooShort(min: 8))
        #expect(try refusal("12345678") == nil)
        #expect(try refusal("ééééééé") == .tooShort(min: 8))
        #expect(try refusal(String(repeating: "e\u{301}", count: 7)) == .tooShort(min: 8))
        #expect(try refusal("1234567👍") == nil)
        #expect(try refusal("pass\u{7}word") == .disallowedCharacter)
        #expect(PasswordRule(lengthMin: 5) == nil && PasswordRule(lengthMin: 65) == nil)
        #expect(PasswordRule(lengthMin: 6) != nil && PasswordRule(lengthMin: 64) != nil)
    }

    @Test func `a password has 1 to 1,024 bytes, of whatever is sent`() throws {
        #expect(try refusal("") == .empty)
        #expect(try refusal(String(repeating: "a", count: 1024)) == nil)
        #expect(try refusal(String(repeating: "a", count: 1025)) == .tooManyBytes)
        #expect(try refusal(String(repeating: "é", count: 513)) == .tooManyBytes)
        #expect(try refusal(String(repeating: "\u{301}", count: 5_000_000)) == .tooManyBytes)
    }

    @Test func `printing a password shows nothing of it`() throws {
        let password = try Password("hunter2hunter2")
        let prepared = try #require(password.prepared)
        for text in ["\(password)", "\(prepared)", String(reflecting: (password, prepared))] {
            #expect(!text.contains("hunter"))
        }
        #expect(Mirror(reflecting: password).children.isEmpty)
        #expect(Mirror(reflecting: prepared).children.isEmpty)
    }

    @Test func `the blocklist applies to any case and normal form`() throws {
        let lines = "Password1\r\nqwertyuiop\n\ncafe\u{301} creme\nbad\u{7}bell\nletmein99"
        let list = PasswordBlocklist(lines: Array(lines.utf8) + [0x0A, 0xE9, 0x0A])
        #expect(list.count == 4 && list.ignoredCount == 2)
        for text in ["password1", "PASSWORD1", "QwertyUiop", "CAF\u{C9}\u{A0}CREME", "letmein99"] {
            #expect(try refusal(text, blocklist: list) == .blocklisted, "\(text)")
        }
        for text in ["password2", "letmein990", "letmein9", "qwertyuio"] {
            #expect(try refusal(text, lengthMin: 6, blocklist: list) == nil, "\(text)")
        }
    }

    @Test func `a blocklist is read from a file of a limited size`() throws {
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("blocklist-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("123456789\npassword\n".utf8).write(to: file)
        #expect(try PasswordBlocklist(contentsOf: file.path).count == 2)

        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: UInt64(PasswordBlocklist.bytesMax + 1))
        try handle.close()
        #expect(throws: PasswordBlocklistFault.tooLarge) {
            try PasswordBlocklist(contentsOf: file.path)
        }
        #expect(throws: PasswordBlocklistFault.unreadable) {
            try PasswordBlocklist(contentsOf: file.path + "-missing")
        }
        #expect(throws: PasswordBlocklistFault.unreadable) {
            try PasswordBlocklist(contentsOf: "/")
        }
    }
}
