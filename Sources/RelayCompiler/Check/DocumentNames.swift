import GraphQLLanguage

/// How definitions must be named, so that their generated types can be found and do not conflict.
///
/// In a Swift file an operation is called `<FileName>` followed by its kind, and a fragment `<FileName>` followed by `_`
/// and the name of what it reads; so the file must have a name that GraphQL names can begin with. A `.graphql` file is
/// often a collection, so what is in it may have any name; but an operation must have one.
///
/// In all files together, each name is used once.
package enum DocumentNames {
    /// - Returns: every name that breaks a rule, at its place.
    package static func check(_ documents: [ParsedDocument]) -> [Diagnostic] {
        var errors: [Diagnostic] = []
        var unusableFiles: Set<String> = []
        for parsed in documents {
            let definitions = parsed.document.named
            guard let first = definitions.first else { continue }
            let extracted = parsed.extracted
            switch extracted.fileKind {
            case .graphQL:
                errors += definitions.filter { $0.name == nil }.map {
                    Diagnostic(
                        "Expected the \($0.kind) to have a name: its Swift type is called by it.",
                        at: extracted.place(of: $0.location))
                }
            case .swift where extracted.fileBaseName.isGraphQLName:
                errors += definitions.compactMap { error(in: $0, of: extracted) }
            case .swift:
                guard unusableFiles.insert(extracted.file).inserted else { continue }
                errors.append(unusable(extracted, at: first.location))
            }
        }
        return errors + repeated(documents)
    }

    // MARK: The file's name

    private static func error(
        in definition: NamedDefinition, of extracted: ExtractedDocument
    ) -> Diagnostic? {
        let file = extracted.fileBaseName
        let place = extracted.place(of: definition.location)
        guard let suffix = definition.operationSuffix else {
            let name = definition.name ?? ""
            if name.hasPrefix(file + "_"), name.utf8.count > file.utf8.count + 1 { return nil }
            return Diagnostic(
                "Expected the name of the fragment in \(file).swift to begin with \"\(file)_\", "
                    + (name == file + "_" ? "and to go on after it." : "not \"\(name)\"."),
                at: place)
        }
        if definition.name == file + suffix { return nil }
        return Diagnostic(
            "Expected the \(definition.kind) in \(file).swift to be named \"\(file + suffix)\", "
                + (definition.name.map { "not \"\($0)\"." } ?? "but it has no name."), at: place)
    }

    private static func unusable(_ extracted: ExtractedDocument, at location: Int) -> Diagnostic {
        Diagnostic(
            "The names of GraphQL definitions begin with that of their Swift file, and no GraphQL "
                + "name can begin with \"\(extracted.fileBaseName)\". Rename the file with letters, "
                + "digits and \"_\" only, or move the document to another.",
            at: extracted.place(of: location))
    }

    // MARK: All files

    /// The texts of operations and fragments are those of GraphQL's rules, which are about one document each.
    private static func repeated(_ documents: [ParsedDocument]) -> [Diagnostic] {
        var places: [String: [(kind: NamedDefinition, place: SourcePlace)]] = [:]
        var names: [String] = []
        for parsed in documents {
            for definition in parsed.document.named {
                guard let name = definition.name else { continue }
                if places[name] == nil { names.append(name) }
                let place = parsed.extracted.place(of: definition.location)
                places[name, default: []].append((definition, place))
            }
        }
        return names.compactMap { name in
            guard let uses = places[name], uses.count > 1 else { return nil }
            let operations = uses.count { $0.kind.operationSuffix != nil }
            let message =
                switch operations {
                case uses.count: "There can be only one operation named \"\(name)\"."
                case 0: "There can be only one fragment named \"\(name)\"."
                default:
                    "An operation and a fragment cannot both be named \"\(name)\": each is the Swift "
                        + "type of that name."
                }
            return Diagnostic(message, at: uses.map(\.place))
        }
    }
}

/// An operation or a fragment, as far as its name is concerned.
private struct NamedDefinition {
    let kind: String
    let name: String?
    /// That of the name, or of the definition if it has none.
    let location: Int
    /// What an operation's name ends with; nil for a fragment.
    let operationSuffix: String?

    init(_ operation: OperationDefinition) {
        kind = operation.operation.rawValue
        name = operation.name?.value
        location = operation.name?.location ?? operation.location
        operationSuffix =
            switch operation.operation {
            case .query: "Query"
            case .mutation: "Mutation"
            case .subscription: "Subscription"
            }
    }

    init(_ fragment: FragmentDefinition) {
        kind = "fragment"
        name = fragment.name.value
        location = fragment.name.location
        operationSuffix = nil
    }
}

extension Document {
    fileprivate var named: [NamedDefinition] {
        definitions.compactMap { definition in
            switch definition {
            case .operation(let operation): NamedDefinition(operation)
            case .fragment(let fragment): NamedDefinition(fragment)
            default: nil
            }
        }
    }
}

extension String {
    /// GraphQL §2.1.9.
    fileprivate var isGraphQLName: Bool {
        guard let first = utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9") ~= first) else {
            return false
        }
        return utf8.allSatisfy {
            ($0 | 0x20) &- UInt8(ascii: "a") < 26 || $0 &- UInt8(ascii: "0") < 10
                || $0 == UInt8(ascii: "_")
        }
    }
}
