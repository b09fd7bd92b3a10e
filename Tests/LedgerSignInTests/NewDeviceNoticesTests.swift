import Ledger
import LedgerSignIn
import Testing

@Suite struct NewDeviceNoticesTests {
    @Test(arguments: ["email", "password", "anonymous"])
    func `a provider of any type may have no notices of new devices`(type: String) throws {
        for (member, isOn) in [
            ("", true), (",\"new_device_notices\":true", true),
            (",\"new_device_notices\":false", false),
        ] {
            let file = "{\"providers\":[{\"name\":\"p\",\"type\":\"\(type)\"\(member)}]}"
            let tenants = try ProvidersFile.parse(
                Array(file.utf8), policy: TenantPolicy(providers: [:]))
            let provider = try #require(tenants[.default]?.providers.values.first)
            #expect(provider.noticesNewDevices == isOn)
        }
    }
}
