/// Which names Swift and generated code have already, and how those of a schema avoid them.
enum SwiftNames {
    /// Names that mean something else unless they are quoted.
    private static let keywords: Set<String> = [
        "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import",
        "init", "inout", "internal", "let", "open", "operator", "private", "precedencegroup",
        "protocol", "public", "rethrows", "static", "struct", "subscript", "typealias", "var",
        "break", "case", "catch", "continue", "default", "defer", "do", "else", "fallthrough",
        "for", "guard", "if", "in", "repeat", "return", "throw", "switch", "where", "while", "Any",
        "as", "await", "false", "is", "nil", "self", "Self", "super", "throws", "true", "try",
        "Type", "Protocol",
    ]

    /// Of these words, those that are names all the same where a type or a module is named.
    private static let typeNames: Set<String> = [
        "Any", "Protocol", "Self", "Type", "await", "open",
    ]

    /// Whether a word is no name of a type or a module unless it is quoted.
    static func isReserved(_ word: String) -> Bool {
        keywords.contains(word) && !typeNames.contains(word)
    }

    /// Types that generated code or programs name without their module: a type of the schema must not hide them.
    private static let types: Set<String> = [
        // Of Swift and Foundation.
        "Any", "AnyHashable", "AnyObject", "Array", "Bool", "CaseIterable", "Character", "Codable",
        "Collection", "Comparable", "Data", "Date", "Decimal", "Decodable", "Dictionary", "Double",
        "Duration", "Encodable", "Equatable", "Error", "Float", "Foundation", "Hashable",
        "Identifiable", "Int", "Int32", "Int64", "Never", "Optional", "Protocol", "Range",
        "RawRepresentable", "Result", "Self", "any", "some", "Sendable", "Sequence", "Set",
        "StaticString",
        "String", "Substring", "Swift", "Task", "Type", "UInt", "URL", "UUID", "Void",
        // Of Relay.
        "CacheConfig", "Combine", "ConcreteRequest", "ConnectionMetadata",
        "ConnectionVariableConfig", "CurrentEnvironment", "DataID", "EmptyVariables",
        "Environment", "FieldErrors", "Fragment", "FragmentPointer", "GraphQLError", "Mutation",
        "MutationOperation", "Network", "Operation", "OperationResult", "PaginationFragment",
        "ReadError", "ReadableRecord", "ReadableScalar", "ReaderFragment", "RecordReader",
        "RefetchFragment", "RefetchMetadata", "Relay", "Snapshot", "Store", "VariableData",
        "VariableDataConvertible", "VariableValue", "VariableValueConvertible",
        // Nested in generated types.
        "Deprecated", "DeprecatedValues", "Metadata", "NullableField", "OptimisticResponse",
        "Other", "Variables",
    ]

    /// A type's name: one that is taken gets an underscore.
    static func type(_ name: String) -> String {
        types.contains(name) || keywords.contains(name) || name == "_" ? name + "_" : name
    }

    /// A member's name; without quotes.
    static func member(_ name: String) -> String {
        // `x.self` is x, quoted or not, and `_` is no name.
        name == "self" || name == "_" ? name + "_" : name
    }

    /// As Swift source has it.
    static func quoted(_ name: String) -> String {
        keywords.contains(name) ? "`\(name)`" : name
    }

    /// As the label of a parameter where a function is declared. Few names need quotes there, and Swift may warn about
    /// others that have them.
    static func parameter(_ name: String) -> String {
        ["inout", "let", "var"].contains(name) ? "`\(name)`" : name
    }

    /// As the label of an argument where a function is called.
    static func argument(_ name: String) -> String { name == "inout" ? "`inout`" : name }

    /// `HIGH_PRIORITY`, `HighPriority` and `highPriority` as `highPriority`.
    static func lowerCamel(_ name: String) -> String {
        let underscores = name.prefix { $0 == "_" }
        let rest = name.dropFirst(underscores.count)
        let words = rest.split(separator: "_").map { word in
            word.contains(where: \.isLowercase) ? String(word) : word.lowercased()
        }
        guard let first = words.first else { return name }
        let joined =
            uncapitalized(first)
            + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        let tail = rest.reversed().prefix { $0 == "_" }
        return underscores + joined + tail
    }

    /// `URLField` as `urlField`, `Todo` as `todo`.
    private static func uncapitalized(_ word: String) -> String {
        let capitals = word.prefix(while: \.isUppercase)
        guard capitals.count > 1, capitals.count < word.count else {
            return capitals.lowercased() + word.dropFirst(capitals.count)
        }
        let next = word[capitals.endIndex]
        let count = next.isLowercase ? capitals.count - 1 : capitals.count
        return word.prefix(count).lowercased() + word.dropFirst(count)
    }
}

/// The names in one scope, each once.
struct NameScope {
    private var taken: Set<String>

    init(_ taken: Set<String> = []) { self.taken = taken }

    /// The name, with as many underscores as make it new.
    mutating func take(_ name: String) -> String {
        var name = name
        while !taken.insert(name).inserted { name += "_" }
        return name
    }
}
