import GraphQLLanguage
import RelayCompiler
import Testing

@Suite struct ConfigurationTests {
    @Test func aConfigurationIsRead() throws {
        let text = """
            {"schema": "a.graphql", "client": ["b.graphql"], "scalars": {"Date": "MyDate"},
             "imports": ["Dates"], "access": "public"}
            """
        let configuration = try Configuration(parsing: Array(text.utf8), file: "relay.json")
        #expect(configuration.schema == ["a.graphql"] && configuration.client == ["b.graphql"])
        #expect(configuration.scalars == ["Date": "MyDate"] && configuration.imports == ["Dates"])
        #expect(configuration.access == .public)
        #expect(
            try Configuration(parsing: Array("  \(text)".utf8), file: "b.json") == configuration)
    }

    /// Each with the place of the first error.
    @Test(arguments: [
        ("", "1:1", "This is not JSON: the text ends too early."),
        ("{\n  \"schema\": 1,,", "2:15", "This is not JSON: expected a string, found \",\"."),
        (
            "[]", "1:1",
            "The settings must be a JSON object, such as {\"schema\": \"schema.graphql\"}."
        ),
        (#"{"schema": 1}"#, "1:12", "\"schema\" must be a string, or a list of strings."),
        (#"{"schema": ["a", 1]}"#, "1:12", "\"schema\" must be a string, or a list of strings."),
        (#"{"schema": ["a", ""]}"#, "1:18", "Expected \"schema\" to name a file, not \"\"."),
        (#"{"client": ""}"#, "1:12", "Expected \"client\" to name a file, not \"\"."),
        (#"{"schema": []}"#, "1:12", "\"schema\" names no file."),
        (
            #"{"scalars": {"Date": 1}}"#, "1:22",
            "Expected the Swift type for \"Date\" to be a string."
        ),
        (
            #"{"scalars": []}"#, "1:13",
            "\"scalars\" must be an object from scalar types to Swift types."
        ),
        (
            #"{"scalars": {"Date": "Da te; print(1)"}}"#, "1:22",
            "Expected the name of a Swift type for \"Date\", such as \"Date\", not \"Da te; print(1)\"."
        ),
        (
            #"{"scalars": {"Date": "[[Int: Date]]"}}"#, "1:22",
            "Expected the keys of dictionaries in the Swift type for \"Date\" to be String, as in JSON, not "
                + "\"[[Int: Date]]\"."
        ),
        (
            #"{"imports": ["Found ation"]}"#, "1:14",
            "Expected \"imports\" to name modules, such as \"Foundation\", not \"Found ation\"."
        ),
        (
            #"{"imports": ["class"]}"#, "1:14",
            "Expected \"imports\" to name modules, such as \"Foundation\", not \"class\"."
        ),
        (
            #"{"imports": ["Dates", "Any"]}"#, "1:23",
            "Expected \"imports\" to name modules, such as \"Foundation\", not \"Any\"."
        ),
        (
            #"{"scalars": {"Date": "Dates.in"}}"#, "1:22",
            "Expected the name of a Swift type for \"Date\", such as \"Date\", not \"Dates.in\"."
        ),
        (
            #"{"access": "all"}"#, "1:12",
            "\"access\" must be \"internal\", \"package\" or \"public\"."
        ),
        (
            #"{"schema": "a", "schema": "b"}"#, "1:17",
            "There can be only one setting \"schema\"."
        ),
        (
            #"{"scalars": {"A": "B", "A": "C"}}"#, "1:24",
            "There can be only one Swift type for \"A\"."
        ),
        (#"{ "shema": {"a": []}}"#, "1:3", "Unknown setting \"shema\". Did you mean \"schema\"?"),
        (
            #"{"x": 1}"#, "1:2",
            "Unknown setting \"x\". There are \"schema\", \"client\", \"scalars\", \"imports\" and \"access\"."
        ),
    ])
    func aConfigurationThatIsNoneSaysWhere(
        _ text: String, _ place: String, _ message: String
    ) throws {
        let failure = #expect(throws: Compilation.Failure.self) {
            try Configuration(parsing: Array(text.utf8), file: "relay.json")
        }
        let first = failure?.description.split(separator: "\n").first.map(String.init)
        #expect(first == "relay.json:\(place): error: \(message)")
    }

    @Test func everythingThatIsWrongIsSaidAtOnce() {
        let text =
            #"{"schema": "", "scalars": {"A": "?"}, "imports": ["", "B"], "acess": "public"}"#
        let failure = #expect(throws: Compilation.Failure.self) {
            try Configuration(parsing: Array(text.utf8), file: "relay.json")
        }
        #expect(failure?.diagnostics.map(\.place?.location.column) == [12, 33, 51, 61])
    }

    @Test(arguments: [
        "Date", "Foundation.Date", "`Type`", "Größe", "_A1", "Tagged<User, Int>", "A<B?>.C<[D]>?",
        "[Double]", "Box<Any>", "A.`in`", "[String: [Int?]]", "A< B , C >",
        "[ Swift.String : [String: A] ]",
    ])
    func typesAreNamesAndWhatTheyAreMadeOf(_ type: String) throws {
        let text = #"{"scalars": {"Date": "\#(type)"}}"#
        let configuration = try Configuration(parsing: Array(text.utf8), file: "relay.json")
        #expect(configuration.scalars == ["Date": type])
    }

    @Test(arguments: [
        "", " ", "1", "A.", ".A", "A..B", "A<", "A<>", "A<B", "A>", "[A", "A]", "[]", "A B", "A;",
        "A!", "any", "some", "Any", "[Self]", "Type", "A.Type", "[String: Any]",
        "`A", "?", "A, B", "(A)", "() -> A", "A // B", "some A", "A\\nB",
    ])
    func otherTextsAreNoTypes(_ type: String) {
        let text = #"{"scalars": {"Date": "\#(type)"}}"#
        #expect(throws: Compilation.Failure.self) {
            try Configuration(parsing: Array(text.utf8), file: "relay.json")
        }
    }

    /// No depth of it overflows the stack.
    @Test func aTypeIsNotNestedForEver() {
        let text = #"{"scalars": {"Date": "\#(String(repeating: "[", count: 100_000))"}}"#
        #expect(throws: Compilation.Failure.self) {
            try Configuration(parsing: Array(text.utf8), file: "relay.json")
        }
    }

    // MARK: Against the schema

    private func compile(_ scalars: String, client: String = "") throws {
        let file = "relay.json"
        let configuration = try Configuration(
            parsing: Array(#"{"scalars": {\#(scalars)}}"#.utf8), file: file)
        let schema = "type Query { now: DateTime user: User } type User { id: ID! } scalar DateTime"
        _ = try Compilation(
            [], schema: [.init(name: "schema.graphql", bytes: Array(schema.utf8))],
            client: client.isEmpty
                ? [] : [.init(name: "client.graphql", bytes: Array(client.utf8))],
            configuration: configuration)
    }

    @Test func scalarsAreThoseOfTheSchema() throws {
        try compile(#""DateTime": "Date", "ID": "Key", "Float": "Double""#)
        try compile(#""Color": "Color""#, client: "scalar Color extend type User { c: Color }")
        let failure = #expect(throws: Compilation.Failure.self) {
            try compile(#""Datetime": "Date", "User": "User", "Nowhere": "Some""#)
        }
        #expect(
            failure?.diagnostics.map(\.message) == [
                "Unknown scalar type \"Datetime\" in \"scalars\". Did you mean \"DateTime\"?",
                "\"User\" in \"scalars\" is not a scalar type.",
                "Unknown scalar type \"Nowhere\" in \"scalars\".",
            ])
        #expect(failure?.description.hasPrefix("relay.json:1:14: error: ") == true)
    }
}
