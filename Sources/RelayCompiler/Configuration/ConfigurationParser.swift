import GraphQLLanguage
import RelayJSON

/// Reads `relay.json`, and finds all that is wrong with it.
struct ConfigurationParser {
    private var reader: JSONReader
    private let source: Source
    private var configuration = Configuration()
    private var mistakes: [Diagnostic] = []

    static func parse(
        _ bytes: [UInt8], file: String
    ) throws(Compilation.Failure) -> Configuration {
        let source = Source(utf8: bytes, name: file)
        let parsed = bytes.withUnsafeBytes { buffer in
            var parser = ConfigurationParser(reader: JSONReader(buffer), source: source)
            do throws(JSONError) { try parser.readFile() } catch {
                parser.mistakes = [
                    Diagnostic(
                        "This is not JSON: \(error.problem).",
                        at: source.place(of: error.byteOffset))
                ]
            }
            return (configuration: parser.configuration, mistakes: parser.mistakes)
        }
        guard parsed.mistakes.isEmpty else { throw Compilation.Failure(parsed.mistakes) }
        return parsed.configuration
    }

    private init(reader: JSONReader, source: Source) {
        self.reader = reader
        self.source = source
    }

    private mutating func report(_ message: String, at place: SourcePlace) {
        mistakes.append(Diagnostic(message, at: place))
    }

    // MARK: Members

    private static let members = ["schema", "client", "scalars", "imports", "access"]

    private mutating func readFile() throws(JSONError) {
        let start = try nextPlace()
        guard try reader.peek() == .object else {
            try reader.skipValue()
            try reader.finish()
            return report(
                "The settings must be a JSON object, such as {\"schema\": \"schema.graphql\"}.",
                at: start)
        }
        try reader.beginObject()
        var known: Set<String> = []
        while let (name, place) = try nextKey() {
            if !known.insert(name).inserted {
                report("There can be only one setting \"\(name)\".", at: place)
            }
            switch name {
            case "schema": configuration.schema = try files(name)
            case "client": configuration.client = try files(name)
            case "imports": configuration.imports = try modules()
            case "scalars": try readScalars()
            case "access": try readAccess()
            default:
                try reader.skipValue()
                let near = didYouMean(suggestions(for: name, among: Self.members))
                let all =
                    " There are \"schema\", \"client\", \"scalars\", \"imports\" and \"access\"."
                report("Unknown setting \"\(name)\"." + (near.isEmpty ? all : near), at: place)
            }
        }
        try reader.finish()
    }

    private mutating func files(_ name: String) throws(JSONError) -> [String] {
        let start = try nextPlace()
        let files = try texts(name)
        if files?.isEmpty == true, name == "schema" {
            report("\"schema\" names no file.", at: start)
        }
        for file in files ?? [] where file.text.isEmpty {
            report("Expected \"\(name)\" to name a file, not \"\".", at: file.place)
        }
        return files?.map(\.text) ?? []
    }

    private mutating func modules() throws(JSONError) -> [String] {
        let modules = try texts("imports") ?? []
        for module in modules where !SwiftTypeSyntax.isModule(module.text) {
            report(
                "Expected \"imports\" to name modules, such as \"Foundation\", not "
                    + "\"\(module.text)\".", at: module.place)
        }
        return modules.map(\.text)
    }

    private mutating func readScalars() throws(JSONError) {
        let start = try nextPlace()
        guard try reader.peek() == .object else {
            try reader.skipValue()
            return report(
                "\"scalars\" must be an object from scalar types to Swift types.", at: start)
        }
        try reader.beginObject()
        while let (name, place) = try nextKey() {
            let value = try nextPlace()
            if configuration.scalarPlaces.byName.updateValue(place, forKey: name) != nil {
                report("There can be only one Swift type for \"\(name)\".", at: place)
            }
            guard try reader.peek() == .string else {
                try reader.skipValue()
                report("Expected the Swift type for \"\(name)\" to be a string.", at: value)
                continue
            }
            let type = try reader.readString().string
            configuration.scalars[name] = type
            guard let syntax = SwiftTypeSyntax(type), syntax.isConcrete else {
                report(
                    "Expected the name of a Swift type for \"\(name)\", such as \"Date\", not "
                        + "\"\(type)\".", at: value)
                continue
            }
            if syntax.hasStringKeys { continue }
            report(
                "Expected the keys of dictionaries in the Swift type for \"\(name)\" to be String, as in "
                    + "JSON, not \"\(type)\".", at: value)
        }
    }

    private mutating func readAccess() throws(JSONError) {
        let place = try nextPlace()
        configuration.access = try reader.readValue().string.flatMap(
            GenerateOptions.Access.init)
        if configuration.access == nil {
            report("\"access\" must be \"internal\", \"package\" or \"public\".", at: place)
        }
    }

    // MARK: Values with their places

    /// One text, or a list of texts; nil if it is anything else, which is reported.
    private mutating func texts(
        _ name: String
    ) throws(JSONError) -> [(text: String, place: SourcePlace)]? {
        let start = try nextPlace()
        switch try reader.peek() {
        case .string: return [(try reader.readString().string, start)]
        case .array:
            var texts: [(text: String, place: SourcePlace)] = []
            var isRight = true
            try reader.beginArray()
            while try reader.nextElement() {
                let place = try nextPlace()
                if let text = try reader.readValue().string {
                    texts.append((text, place))
                } else {
                    isRight = false
                }
            }
            if isRight { return texts }
        default: try reader.skipValue()
        }
        report("\"\(name)\" must be a string, or a list of strings.", at: start)
        return nil
    }

    private mutating func nextKey() throws(JSONError) -> (name: String, place: SourcePlace)? {
        let before = reader.byteOffset
        guard let key = try reader.nextKey() else { return nil }
        // Between them are white space and a comma.
        let quote = source.bytes[before...].firstIndex(of: UInt8(ascii: "\"")) ?? before
        return (key.string, source.place(of: quote))
    }

    /// That of the next value.
    private mutating func nextPlace() throws(JSONError) -> SourcePlace {
        _ = try reader.peek()
        return source.place(of: reader.byteOffset)
    }
}
