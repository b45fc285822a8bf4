import GraphQLLanguage
import RelayArtifacts
import RelayIR

/// The names of types that are not nested in another: those of operations and fragments are as in their documents, and
/// types of the schema give way to them.
struct ModuleNames {
    private(set) var definitions: [String: String] = [:]
    private(set) var keys: [String: String] = [:]
    private var types: [TypeID: String] = [:]
    /// What data may refer to: names that its nested types must not hide.
    private(set) var visibleInData: Set<String> = []

    /// - Parameters:
    ///   - used: the types of the schema that are generated.
    ///   - scalars: the Swift types of custom scalars, which are the program's.
    init(_ documents: RelayDocuments, _ used: [NamedType], scalars: some Sequence<String>) {
        var scope = NameScope()
        for type in scalars {
            let parts = type.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
            visibleInData.formUnion(parts.map(String.init))
        }
        for name in documents.operations.map(\.request.params.name)
            + documents.fragments.map(\.node.name)
        {
            definitions[name] = scope.take(SwiftNames.type(name))
        }
        for fragment in documents.fragments {
            let key = scope.take("\(fragment.node.name)_Key")
            keys[fragment.node.name] = key
            visibleInData.insert(key)
        }
        for type in used {
            let name = scope.take(SwiftNames.type(type.name))
            types[type.id] = name
            visibleInData.insert(name)
        }
    }

    func definition(_ name: String) -> String { definitions[name] ?? name }
    func key(_ fragment: String) -> String { keys[fragment] ?? "\(fragment)_Key" }
    func type(_ type: NamedType) -> String { types[type.id] ?? SwiftNames.type(type.name) }
}
