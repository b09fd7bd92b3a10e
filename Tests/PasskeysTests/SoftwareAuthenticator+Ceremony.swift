import Passkeys
import SoftwareAuthenticators
import Testing

extension SoftwareAuthenticator {
    static func ceremony(
        _ verification: PasskeyCeremony.UserVerification = .required
    ) throws -> PasskeyCeremony {
        let party = try #require(relyingParty)
        return try #require(
            PasskeyCeremony(
                relyingParty: party, challenge: challenge, userVerification: verification))
    }
}
