// swift-tools-version: 6.2
import PackageDescription

// The rooms, lowest first; an arrow points only upwards in this file's order.
// docs/ARCHITECTURE.md says what each one holds.

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func room(
    _ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []
) -> Target {
    .target(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: strict)
}

func tests(of name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = [])
    -> Target
{
    .testTarget(
        name: name + "Tests",
        dependencies: [.byName(name: name), "BoundedTesting"] + dependencies,
        exclude: exclude, swiftSettings: strict)
}

let argumentParser = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

func openCombine(_ product: String) -> Target.Dependency {
    .product(name: product, package: "OpenCombine", condition: .when(platforms: [.linux]))
}

// On Apple's systems the real Combine is there, and a target of that name must not be.
#if os(Linux)
    let relayTargets = ["Relay", "Combine"]
    let combine: [Target] = [
        room(
            "Combine",
            ["OpenCombine", "OpenCombineDispatch", "OpenCombineFoundation"].map(openCombine))
    ]
    let combineTests: [Target.Dependency] = ["Combine"]

    // The pages that the runtime was written after: their code as it is, in a module each, with none of
    // our settings.
    func seedPage(
        _ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []
    ) -> Target {
        .testTarget(
            name: name + "Tests",
            dependencies: [
                "BoundedTesting", "Combine", "Relay", "RelayStore", "TodoFixtures", "TodoService",
            ] + dependencies,
            path: "Tests/Seeds/" + name, exclude: exclude, swiftSettings: [.swiftLanguageMode(.v6)])
    }
    let seedPages: [Target] = [
        .target(
            name: "Auth0", path: "Tests/Seeds/Auth0", swiftSettings: [.swiftLanguageMode(.v6)]),
        seedPage("NetworkPage"),
        seedPage("Auth0Page", ["Auth0"]),
        seedPage("MutationPage", ["RelayNetwork"], exclude: ["Item.graphql", "Schema"]),
        seedPage(
            "ViewPage", ["RelayTerminal", "TerminalUI"], exclude: ["Item.graphql", "Schema"]),
        seedPage("Signatures"),
    ]
#else
    let relayTargets = ["Relay"]
    let combine: [Target] = []
    let combineTests: [Target.Dependency] = []
    let seedPages: [Target] = []
#endif

// Only script/fuzz asks for it: libFuzzer has to be linked, which wants flags that a package people depend on
// may not have, and a linker that knows its sections.
let fuzz: [Target] =
    Context.environment["RELAY_FUZZ"] == nil
    ? []
    : [
        .executableTarget(
            name: "GraphQLFuzz",
            dependencies: [
                "EventStore", "GraphQLExecution", "GraphQLLanguage", "RelayCompiler", "RelayJSON",
                "RelayRecords", "RelayServer", "SchemaService", "StoreEngine",
            ], path: "Tests/GraphQLFuzz",
            swiftSettings: strict, linkerSettings: [.unsafeFlags(["-use-ld=lld"])])
    ]

let package = Package(
    name: "relay-swift",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "relay", targets: ["RelayCommand"]),
        .executable(name: "relay-compiler", targets: ["RelayCompilerTool"]),
        .plugin(name: "RelayCompilerPlugin", targets: ["RelayCompilerPlugin"]),
        .plugin(name: "RelayCompilePlugin", targets: ["RelayCompilePlugin"]),
        .library(name: "RelayServer", targets: ["RelayServer"]),
        .library(name: "Relay", targets: relayTargets),
        .library(name: "RelayRecords", targets: ["RelayRecords", "RelayArtifacts"]),
        .library(name: "RelayStore", targets: ["RelayStore", "RelayArtifacts"]),
        .library(name: "RelayNetwork", targets: ["RelayNetwork"]),
        .library(name: "RelayTerminal", targets: ["RelayTerminal"]),
        .library(name: "TerminalUI", targets: ["TerminalUI"]),
        .library(name: "EventStore", targets: ["EventStore"]),
    ],
    dependencies: [
        .package(
            url: "https://github.com/apple/swift-argument-parser", .upToNextMinor(from: "1.8.0")),
        .package(url: "https://github.com/apple/swift-collections", .upToNextMinor(from: "1.6.0")),
        .package(url: "https://github.com/apple/swift-log", .upToNextMinor(from: "1.16.0")),
        .package(url: "https://github.com/OpenCombine/OpenCombine", .upToNextMinor(from: "0.14.0")),
    ],
    targets: [
        // C libraries, each imported by exactly one room; libcrypto by two.
        .systemLibrary(
            name: "CZlib", pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(
            name: "CCrypto", pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CLibwebsockets", pkgConfig: "libwebsockets",
            providers: [.apt(["libwebsockets-dev"])]),

        room("Threads"),
        room("TerminalUI", ["Threads"]),
        room("Zlib", ["CZlib"]),
        room("RelayJSON"),
        room("GraphQLLanguage", ["RelayJSON", "Threads"]),
        room("RelayArtifacts", ["RelayJSON", "Threads"]),
        room("ResultPatches", ["RelayArtifacts", "RelayJSON"]),
        room("Digests", ["CCrypto"]),
        room("JSONWebTokens", ["CCrypto", "RelayJSON", "Threads"]),
        room("PostgreSQL", ["Threads"]),
        room("Disk"),
        room("EventLog", ["Digests", "Disk", "Threads", "Zlib"]),
        room("LogTools", ["Digests", "Disk", "EventLog", "Threads"]),
        room(
            "SharedJournal",
            ["Digests", "Disk", "EventLog", "LogTools", "PostgreSQL", "Threads"]),
        room(
            "RelayRecords",
            [
                "RelayArtifacts", "RelayJSON", "Threads",
                .product(name: "HashTreeCollections", package: "swift-collections"),
            ]),
        room("RelayReading", ["RelayArtifacts", "RelayJSON", "RelayRecords", "Threads"]),
        room("RelayNormalization", ["RelayArtifacts", "RelayJSON", "RelayRecords", "Threads"]),
        room(
            "RelayStore",
            [
                "RelayArtifacts", "RelayJSON", "RelayNormalization", "RelayReading", "RelayRecords",
                "Threads",
            ]),
        room(
            "EventStore",
            ["Digests", "Disk", "EventLog", "LogTools", "RelayJSON", "RelayRecords", "Threads"]),
        room(
            "Cluster",
            [
                "Disk", "EventLog", "EventStore", "PostgreSQL", "RelayRecords", "SharedJournal",
                "Threads",
            ]),
        room("RelayIR", ["GraphQLLanguage", "RelayArtifacts"]),
        room("RelayCompiler", ["GraphQLLanguage", "RelayArtifacts", "RelayIR", "RelayJSON"]),
        room(
            "CompileTool",
            ["Disk", "GraphQLLanguage", "RelayCompiler", "RelayJSON", argumentParser]),
        .executableTarget(
            name: "RelayCompilerTool", dependencies: ["CompileTool", argumentParser],
            swiftSettings: strict),
        .plugin(
            name: "RelayCompilerPlugin", capability: .buildTool(),
            dependencies: ["RelayCompilerTool"]),
        .plugin(
            name: "RelayCompilePlugin",
            capability: .command(
                intent: .custom(
                    verb: "relay-compile",
                    description: "Generate the Swift types of GraphQL documents."),
                permissions: [
                    .writeToPackageDirectory(
                        reason: "Generated types are written to __generated__ in targets' folders.")
                ]), dependencies: ["RelayCompilerTool"]),
        room(
            "GraphQLExecution",
            [
                "Digests", "GraphQLLanguage", "RelayArtifacts", "RelayJSON", "RelayRecords",
                "Threads",
            ]),
        room("GraphQLTransportWS", ["RelayJSON"]),
        room("HTTPMessages"),
        room(
            "WebSocketIO",
            [
                "CLibwebsockets", "HTTPMessages", "Threads", "Zlib",
                .product(name: "HeapModule", package: "swift-collections"),
            ]),
        room(
            "RelayLink",
            [
                "GraphQLTransportWS", "HTTPMessages", "RelayArtifacts", "RelayJSON", "Threads",
                "WebSocketIO",
            ]),
        room("Publishing", [openCombine("OpenCombine")]),
        room(
            "Relay",
            [
                "Publishing", "RelayArtifacts", "RelayJSON", "RelayStore", "ResultPatches",
                "Threads", logging,
            ]),
        room(
            "RelayTerminal",
            ["Publishing", "Relay", "RelayArtifacts", "RelayStore", "TerminalUI", "Threads"]),
        room(
            "RelayNetwork",
            [
                "HTTPMessages", "Publishing", "Relay", "RelayArtifacts", "RelayJSON", "RelayLink",
                "RelayStore", "ResultPatches", "Threads", "WebSocketIO",
            ]),
        room(
            "SchemaService",
            [
                "GraphQLExecution", "GraphQLLanguage", "RelayArtifacts", "RelayJSON",
                "RelayRecords", "Threads", logging,
            ]),
        room(
            "StoreEngine",
            [
                "Digests", "GraphQLExecution", "GraphQLLanguage", "RelayArtifacts", "RelayIR",
                "RelayJSON", "RelayRecords", "ResultPatches", "SchemaService", "Threads",
                .product(name: "HeapModule", package: "swift-collections"), logging,
            ]),
        room(
            "RelayServer",
            [
                "Cluster", "Digests", "EventLog", "EventStore", "GraphQLExecution",
                "GraphQLLanguage", "GraphQLTransportWS", "HTTPMessages", "JSONWebTokens",
                "RelayArtifacts", "RelayJSON", "RelayRecords", "SchemaService", "SharedJournal",
                "StoreEngine", "Threads", "WebSocketIO", logging,
            ], exclude: ["Explorer/explorer.html"]),
        room(
            "Console",
            [
                "Disk", "EventLog", "EventStore", "GraphQLLanguage", "PostgreSQL",
                "RelayArtifacts", "RelayJSON", "RelayLink", "RelayRecords", "SharedJournal",
                "Threads", "WebSocketIO", argumentParser,
            ]),
        room(
            "Workbench",
            [
                "Console", "Disk", "GraphQLLanguage", "RelayJSON", "RelayLink", "RelayRecords",
                "TerminalUI", "Threads",
            ]),
        room(
            "ReplayDebugger",
            [
                "Console", "EventStore", "GraphQLExecution", "RelayJSON", "RelayRecords",
                "StoreEngine", "TerminalUI", "Threads",
            ]),
        room(
            "RelayBenchmarks",
            [
                "Console", "EventLog", "EventStore", "GraphQLExecution", "GraphQLLanguage",
                "GraphQLTransportWS", "RelayArtifacts", "RelayIR", "RelayJSON", "RelayRecords",
                "RelayServer", "RelayStore", "SchemaService", "StoreEngine", "TerminalUI",
                "Threads",
                "WebSocketIO",
                argumentParser,
            ]),
        .executableTarget(
            name: "RelayCommand",
            dependencies: [
                "CompileTool", "Console", "Digests", "Disk", "EventLog", "EventStore",
                "GraphQLExecution",
                "GraphQLLanguage", "HTTPMessages", "LogTools", "PostgreSQL", "RelayArtifacts",
                "RelayBenchmarks", "RelayJSON", "RelayLink", "RelayRecords", "RelayServer",
                "ReplayDebugger", "SchemaService", "SharedJournal", "StoreEngine",
                "TerminalUI", "Threads", "WebSocketIO", "Workbench", argumentParser, logging,
            ],
            swiftSettings: strict),
        room("TodoMutations", ["RelayArtifacts", "RelayRecords"]),
        .executableTarget(
            name: "TodoServer", dependencies: ["RelayServer", "TodoMutations", argumentParser],
            swiftSettings: strict),
        .target(
            name: "TodoViews",
            dependencies: [
                "EventStore", "Relay", "RelayNetwork", "RelayTerminal", "Threads", "TodoMutations",
            ], swiftSettings: strict),
        .executableTarget(
            name: "TodoClient", dependencies: ["TerminalUI", "TodoViews", argumentParser],
            swiftSettings: strict),
        .executableTarget(
            name: "ClientBenchmark",
            dependencies: [
                "GraphQLLanguage", "HTTPMessages", "Publishing", "Relay", "RelayArtifacts",
                "RelayIR", "RelayJSON", "RelayNetwork", "Threads", "WebSocketIO", argumentParser,
            ],
            swiftSettings: strict),

        tests(of: "TerminalUI", ["Threads"]),
        tests(of: "Threads"),
        tests(of: "PostgreSQL", ["PostgreSQLTesting", "Threads"]),
        tests(of: "RelayJSON"),
        tests(of: "Digests"),
        tests(of: "JSONWebTokens", ["CCrypto", "RelayJSON", "Threads"], exclude: ["Fixtures"]),
        tests(of: "GraphQLLanguage", ["RelayJSON"]),
        tests(of: "RelayArtifacts", ["GeneratedModules", "RelayIR", "RelayJSON"]),
        tests(of: "RelayIR", ["GraphQLLanguage", "RelayArtifacts"], exclude: ["Fixtures"]),
        tests(
            of: "RelayCompiler", ["GraphQLLanguage", "RelayArtifacts", "RelayIR", "RelayJSON"],
            exclude: ["Extract/Fixtures", "Fixtures"]),
        .testTarget(
            name: "GeneratedCodeTests",
            dependencies: [
                "BoundedTesting", "GeneratedModules", "Relay", "RelayArtifacts", "RelayCompiler",
                openCombine("OpenCombine"),
            ],
            exclude: [
                "Adversarial/Adversarial.graphql", "Adversarial/Schema", "Films/Schema",
                "Pokedex/Schema", "Todo/Schema", "Todo/Todo.graphql", "Todo/TodoApp.graphql",
            ], swiftSettings: strict),
        .target(
            name: "GeneratedModules",
            dependencies: ["GraphQLLanguage", "RelayCompiler", "RelayIR"],
            path: "Tests/GeneratedModules", swiftSettings: strict),
        tests(
            of: "EventLog", ["Disk", "DiskSimulation", "LogTools", "Threads"],
            exclude: ["Fixtures"]),
        tests(
            of: "SharedJournal",
            [
                "Digests", "Disk", "EventLog", "EventStore", "LogTools", "PostgreSQL",
                "PostgreSQLTesting", "RelayRecords", "Threads",
            ]),
        tests(of: "RelayRecords", ["RelayJSON", "Threads"]),
        tests(
            of: "RelayStore",
            [
                "GraphQLLanguage", "RelayArtifacts", "RelayIR", "RelayJSON", "RelayNormalization",
                "RelayReading", "RelayRecords", "Threads",
            ]),
        tests(
            of: "EventStore",
            [
                "Digests", "Disk", "DiskSimulation", "EventLog", "LogTools", "RelayArtifacts",
                "RelayJSON", "RelayReading", "RelayRecords", "RelayStore", "Threads", "Zlib",
            ]),
        tests(
            of: "Cluster",
            [
                "EventLog", "EventStore", "PostgreSQL", "PostgreSQLTesting", "RelayRecords",
                "SharedJournal", "Threads",
            ]),
        tests(
            of: "ReplayDebugger",
            [
                "Console", "Disk", "EventLog", "EventStore", "RelayJSON", "RelayRecords",
                "TerminalUI",
                "Threads",
            ]
        ),
        tests(
            of: "Workbench",
            [
                "Console", "Disk", "GraphQLLanguage", "HTTPMessages", "LoopbackPorts", "RelayJSON",
                "RelayLink", "RelayServer", "TerminalTesting", "TerminalUI", "Threads",
                "TodoFixtures", "WebSocketIO", "WebSocketTesting", logging,
            ]),
        tests(of: "GraphQLExecution", ["GraphQLLanguage", "RelayJSON", "RelayRecords"]),
        tests(of: "GraphQLTransportWS", ["RelayJSON"]),
        tests(of: "HTTPMessages"),
        tests(of: "WebSocketIO", ["HTTPMessages", "Threads", "WebSocketTesting"]),
        tests(of: "RelayLink", ["GraphQLTransportWS", "RelayArtifacts", "WebSocketIO"]),
        tests(
            of: "RelayServer",
            [
                "CCrypto", "Cluster", "Digests", "EventLog", "EventStore", "GraphQLExecution",
                "GraphQLLanguage", "GraphQLTransportWS", "HTTPMessages", "JSONWebTokens",
                "PostgreSQLTesting", "RelayArtifacts", "RelayJSON", "RelayLink", "RelayRecords",
                "RelayStore", "ResultPatches", "SchemaService", "SharedJournal", "StoreEngine",
                "Threads", "TodoMutations", "WebSocketIO", "WebSocketTesting", logging,
            ], exclude: ["Differential/graphql_core_peer.py"]),
        tests(
            of: "RelayNetwork",
            [
                "ClientProgram", "EventStore", "GraphQLLanguage", "GraphQLTransportWS",
                "HTTPMessages",
                "LoopbackPorts", "Relay",
                "RelayArtifacts", "RelayIR", "RelayJSON", "RelayLink", "RelayServer", "RelayStore",
                "SchemaService", "StoreEngine", "Threads", "TodoMutations", "WebSocketIO",
                "WebSocketTesting", logging,
                openCombine("OpenCombine"),
            ] + combineTests),
        tests(
            of: "Relay",
            [
                "RelayArtifacts", "RelayJSON", "RelayNormalization", "RelayStore", "Threads",
                "TodoFixtures", logging,
                openCombine("OpenCombine"),
            ] + combineTests),
        tests(
            of: "RelayTerminal",
            [
                "Relay", "RelayArtifacts", "RelayNetwork", "RelayStore", "TerminalUI", "Threads",
                "TodoFixtures", "TodoService", openCombine("OpenCombine"),
            ]),
        tests(
            of: "TodoViews",
            [
                "LoopbackPorts", "RelayNetwork", "RelayServer", "RelayTerminal", "TerminalTesting",
                "Threads",
                "TodoFixtures", "TodoMutations", logging, openCombine("OpenCombine"),
            ]),
        .target(
            name: "TodoFixtures", dependencies: ["Relay"], path: "Tests/TodoFixtures",
            exclude: [
                "Deferred.graphql", "FieldErrors.graphql", "Paging.graphql", "Schema",
                "Todo.graphql",
            ], swiftSettings: strict),
        .target(
            name: "TodoService", dependencies: ["RelayServer", "Threads", "TodoFixtures", logging],
            path: "Tests/TodoService", swiftSettings: strict),
        // Sees what is public, as other packages do.
        .target(
            name: "ClientProgram", dependencies: ["Relay", "RelayNetwork"],
            path: "Tests/ClientProgram", packageAccess: false, swiftSettings: strict),
        // The article YourFirstApp's.
        .executableTarget(
            name: "FirstApp", dependencies: ["Relay", "RelayNetwork"],
            path: "Tests/FirstApp/Sources/Todos", packageAccess: false, swiftSettings: strict),
        // That of docs/terminal.md, with its test.
        .executableTarget(
            name: "TerminalTodos", dependencies: ["RelayNetwork", "RelayTerminal"],
            path: "Tests/TerminalApp/Sources/TerminalTodos", packageAccess: false,
            swiftSettings: strict),
        .testTarget(
            name: "TerminalTodosTests", dependencies: ["RelayTerminal", "TerminalTodos"],
            path: "Tests/TerminalApp/Tests/TerminalTodosTests", packageAccess: false,
            swiftSettings: strict),
        .executableTarget(
            name: "JournaledClient",
            dependencies: [
                "EventStore", "Relay", "RelayNetwork", "TodoFixtures", openCombine("OpenCombine"),
            ],
            path: "Tests/JournaledClient", swiftSettings: strict),
        .target(
            name: "DiskSimulation",
            dependencies: ["BoundedTesting", "Disk", "EventLog", "Threads"],
            path: "Tests/DiskSimulation",
            swiftSettings: strict),
        .testTarget(
            name: "SimulationTests",
            dependencies: [
                "BoundedTesting", "DiskSimulation", "EventLog", "EventStore", "GraphQLExecution",
                "GraphQLLanguage", "GraphQLTransportWS", "Relay", "RelayArtifacts", "RelayJSON",
                "RelayLink", "RelayNetwork", "RelayServer", "RelayStore", "SchemaService",
                "StoreEngine", "Threads", "TodoFixtures", logging, openCombine("OpenCombine"),
            ] + combineTests, path: "Tests/Simulation", exclude: ["Mutants"], swiftSettings: strict),
        .target(
            name: "WebSocketTesting",
            dependencies: ["HTTPMessages", "RelayJSON", "Threads", "WebSocketIO"],
            path: "Tests/WebSocketTesting", swiftSettings: strict),
        .target(
            name: "TerminalTesting", dependencies: ["BoundedTesting", "TerminalUI"],
            path: "Tests/TerminalTesting", swiftSettings: strict),
        .target(
            name: "PostgreSQLTesting", dependencies: ["LoopbackPorts", "PostgreSQL", "Threads"],
            path: "Tests/PostgreSQLTesting", swiftSettings: strict),
        .target(name: "LoopbackPorts", path: "Tests/LoopbackPorts", swiftSettings: strict),
        .target(
            name: "BoundedTesting", dependencies: ["Threads"], path: "Tests/BoundedTesting",
            swiftSettings: strict),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "BoundedTesting", "LoopbackPorts", "PostgreSQL", "PostgreSQLTesting", "RelayJSON",
                "Threads",
            ],
            swiftSettings: strict),
    ] + combine + seedPages + fuzz
)

// Scripts that run the tests of a few rooms build those, and no programs: in a configuration of their own, all the rest
// would take longer than the tests.
if let names = Context.environment["RELAY_TEST_TARGETS"]?.split(separator: ",").map(String.init) {
    package.targets.removeAll { target in
        [.executable, .plugin].contains(target.type)
            || target.type == .test && !names.contains(target.name)
    }
    let programs = ["relay", "relay-compiler", "RelayCompilerPlugin", "RelayCompilePlugin"]
    package.products.removeAll { programs.contains($0.name) }
}
