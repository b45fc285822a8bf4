// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "TerminalTodos",
    platforms: [.macOS(.v15)],
    dependencies: [.package(path: "../relay-swift")],
    targets: [
        .executableTarget(
            name: "TerminalTodos",
            dependencies: [
                .product(name: "RelayNetwork", package: "relay-swift"),
                .product(name: "RelayTerminal", package: "relay-swift"),
            ],
            plugins: [.plugin(name: "RelayCompilerPlugin", package: "relay-swift")]),
        .testTarget(name: "TerminalTodosTests", dependencies: ["TerminalTodos"]),
    ])
