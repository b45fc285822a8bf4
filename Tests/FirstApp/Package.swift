// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Todos",
    platforms: [.macOS(.v15)],
    dependencies: [.package(path: "../relay-swift")],
    targets: [
        .executableTarget(
            name: "Todos",
            dependencies: [
                .product(name: "Relay", package: "relay-swift"),
                .product(name: "RelayNetwork", package: "relay-swift"),
            ],
            plugins: [.plugin(name: "RelayCompilerPlugin", package: "relay-swift")])
    ])
