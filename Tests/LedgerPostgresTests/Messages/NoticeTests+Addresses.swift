import Ledger
import LedgerTestSupport
import Testing

@testable import LedgerPostgres

/// The notices of changed addresses and new devices.
extension NoticeTests {
    @Test func `a change of address is told to the former address, and ends the account's codes`()
        async throws
    {
        try await with { scene in
            let ada = try await scene.signIn("ada@example.com")
            let names = try #require(
                addressProof("ada@example.com", new: AddressID(bits: 1)).address
            )
            .names
            let change = ChangeAddress(
                SessionRenewal(
                    caller: ada, password: nil, refreshToken: .zero,
                    newSession: SessionID(bits: 2)),
                from: names, to: addressProof("new@example.com", new: AddressID(bits: 3)),
                newFormer: AddressID(bits: 4))
            try await scene.messages.database.asSuperuser.execute(
                """
                INSERT INTO challenges (tenant_id, challenge_id, provider, digest, code_digest,
                    key_id, sealed, wrapping_key, expires_at)
                SELECT tenant_id, gen_random_uuid(), 'email', digest, sha256('b'), key_id, 'sealed',
                    'key', '2099-01-01' FROM addresses
                """)
            _ = try await scene.ledger.submit(.changeAddress(change)).get()
            #expect(try await scene.sent() == ["ada@example.com address_changed de -"])
            #expect(
                try await scene.messages.texts("SELECT count(*)::text FROM challenges") == ["0"])
            // Both addresses are told for seven days.
            let caller = Caller(account: ada.account, session: SessionID(bits: 2))
            try await scene.link(caller, google("ada"))
            #expect(
                try await scene.sent() == [
                    "ada@example.com provider_linked de google of default",
                    "new@example.com provider_linked de google of default",
                ])
            // The address that loses the account is told, and not the one that was just proved.
            let back = TakeBackAddress(
                addressProof("ada@example.com", new: AddressID(bits: 5)), password: nil)
            _ = try await scene.ledger.submit(.takeBackAddress(back)).get()
            #expect(try await scene.sent() == ["new@example.com address_returned de -"])
        }
    }

    @Test func `a notice goes to the address that the account had at its event`() async throws {
        try await with { scene in
            let ada = try await scene.signIn("ada@example.com")
            try await scene.link(ada, google("ada"))
            let change = ChangeAddress(
                SessionRenewal(
                    caller: ada, password: nil, refreshToken: .zero,
                    newSession: SessionID(bits: 2)),
                from: try #require(
                    addressProof("ada@example.com", new: AddressID(bits: 1)).address
                ).names, to: addressProof("thief@example.com", new: AddressID(bits: 3)),
                newFormer: AddressID(bits: 4))
            _ = try await scene.ledger.submit(.changeAddress(change)).get()
            #expect(
                try await scene.sent() == [
                    "ada@example.com address_changed de -",
                    "ada@example.com provider_linked de google of default",
                ])
        }
    }
}
