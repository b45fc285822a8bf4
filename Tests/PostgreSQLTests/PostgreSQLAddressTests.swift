import BoundedTesting
import Foundation
import Testing

@testable import PostgreSQL

@Suite struct PostgreSQLAddressTests {
    @Test(arguments: [
        ("postgres://ada@db.example:5433/todos", "postgres://ada@db.example:5433/todos"),
        ("postgresql:///todos", "postgres:///todos"),
        ("postgres://ada:secret@db/todos?sslmode=verify-full", "postgres://ada@db/todos"),
        ("postgres://ada@one:1,two:2/todos", "postgres://ada@one:1,two:2/todos"),
        ("postgres://ada@one,two/todos?password=secret", "postgres://ada@one,two/todos"),
        ("postgres://%2Fvar%2Frun/todos?port=5433", "postgres:///var/run:5433/todos"),
    ])
    func asTextItHasNoPassword(_ text: String, _ expected: String) throws {
        #expect(try PostgreSQLAddress(parsing: text).description == expected)
    }

    @Test func parametersOfOursAreTakenOut() throws {
        let address = try PostgreSQLAddress(
            parsing: "postgres://ada@db/todos?schema=mine&sslmode=disable", taking: ["schema"])
        #expect(address.ownParameters == ["schema": "mine"])
        #expect(address.parameters.contains { $0.keyword == "sslmode" && $0.value == "disable" })
        #expect(address.description == "postgres://ada@db/todos")
    }

    @Test(arguments: [
        ("one:1,two:2", ["one 1", "two 2"]), ("one,two:2", ["one ", "two 2"]),
        ("one,two", ["one ", "two "]), ("one", ["one"]), ("", [""]),
    ])
    func eachOfSeveralHostsIsTriedByItself(_ hosts: String, _ expected: [String]) throws {
        let address = try PostgreSQLAddress(parsing: "postgres://ada@\(hosts)/todos")
        let found = address.hosts.map { parameters in
            ["host", "port"].compactMap { keyword in
                parameters.first { $0.keyword == keyword }?.value
            }.joined(separator: " ")
        }
        #expect(found == expected)
        #expect(address.hosts.allSatisfy { $0.contains { $0.value == "todos" } })
    }

    @Test func onePortIsThatOfAllHostsAndListsThatDoNotFitAreLeftToLibpq() throws {
        let one = try PostgreSQLAddress(parsing: "postgres:///todos?host=a,b&port=7")
        #expect(
            one.hosts.map { $0.filter { $0.keyword == "port" }.map(\.value) } == [["7"], ["7"]])
        let wrong = try PostgreSQLAddress(parsing: "postgres:///todos?host=a,b,c&port=7,8")
        #expect(wrong.hosts.count == 1)
    }

    @Test func bothPasswordsAreHidden() throws {
        let address = try PostgreSQLAddress(
            parsing: "postgres://ada:hush@db/todos?sslpassword=hush-hush")
        #expect(address.withoutPassword("hush and hush-hush\n") == "… and …")
    }

    @Test(arguments: [
        "http://db/todos", "db", "", "postgres://ada@db/todos?shema=x",
        "postgres://ada:hush%ZZ@db/todos", "postgres://db/todos?password=hush%ZZ",
        "postgres://ada:hush@db/todos?shema=x",
    ])
    func whatIsNoAddressIsRefusedWithoutItsPassword(_ text: String) {
        let error = #expect(throws: PostgreSQLError.self) { try PostgreSQLAddress(parsing: text) }
        #expect(error?.code == .badAddress)
        #expect(error?.message.contains("hush") == false)
    }

    @Test func aMissingLibraryIsNamed() {
        let error = #expect(throws: PostgreSQLError.self) {
            try LibPQ.load(["libnot-there.so.5"]).get()
        }
        #expect(error?.code == .noLibrary)
        #expect(error?.message.contains("libnot-there.so.5") == true)
        #expect(error?.message.contains("libpq5") == true)
    }

    @Test func aLibraryWithoutTheFunctionsIsNamed() {
        let error = #expect(throws: PostgreSQLError.self) { try LibPQ.load(["libc.so.6"]).get() }
        #expect(error?.code == .noLibrary)
        #expect(error?.message.contains("PQconninfoParse") == true)
    }

    /// The program that runs the tests holds every room. One that were linked with the library would not start
    /// without it.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/readelf")))
    func nothingIsLinkedWithTheLibrary() throws {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/readelf")
        process.arguments = [
            "-d", URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path,
        ]
        process.standardOutput = output
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        let said = String(decoding: bytes, as: UTF8.self)
        process.waitUntilExit()
        #expect(said.contains("(NEEDED)"))
        #expect(!said.contains("libpq"))
    }
}
