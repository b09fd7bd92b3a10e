// swift-tools-version: 6.3
import PackageDescription

/// An app with a package of its own: of the ledger it has the product `LedgerClient`, and sees what is public there.
let package = Package(
    name: "OwnPackage",
    platforms: [.macOS(.v14)],
    dependencies: [.package(name: "AccountLedger", path: "../..")],
    targets: [
        .executableTarget(
            name: "own-app",
            dependencies: [.product(name: "LedgerClient", package: "AccountLedger")])
    ])
