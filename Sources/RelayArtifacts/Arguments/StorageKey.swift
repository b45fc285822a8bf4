import Threads

/// Where a record keeps the value of a field: `name`, or `name(arg:json,…)` with the arguments sorted by
/// name and variables replaced by their values.
///
/// An argument that is not given is omitted. One that is null is omitted as well, as in relay-runtime, unless the schema
/// has a default for it: then the two are different values. Without variables the key is computed once, when the node
/// is made.
package struct StorageKey: Sendable {
    /// The field's name.
    package let name: String
    /// Sorted by name.
    package let arguments: [any Argument]
    /// The key, if it is the same with all variables.
    package let constant: String?

    package init(name: String, arguments: [any Argument], given: String? = nil) {
        self.name = name
        self.arguments = arguments.sorted { $0.name < $1.name }
        for argument in arguments where argument.distinguishesNull {
            DistinguishedArguments.insert(argument.name, of: name)
        }
        let isConstant = arguments.allSatisfy(\.isConstant)
        constant = isConstant ? given ?? Self.make(name, self.arguments, VariableData()) : nil
    }

    /// The key with these variables.
    package func resolved(with variables: VariableData) -> String {
        constant ?? Self.make(name, arguments, variables)
    }

    /// The key of a field with these argument values: for code that names fields at run time.
    ///
    /// Such code knows no schema: a null counts if it counts for the nodes that name the field.
    package init(name: String, values: VariableData) {
        self.init(
            name: name,
            arguments: values.sorted.map { argument, value in
                LiteralArgument(
                    name: argument, value: value,
                    distinguishesNull: value == .null
                        && DistinguishedArguments.contain(argument, of: name))
            })
    }

    /// All keys that a field with these values may have, for code that names fields at run time: first those in which
    /// most nulls count. There are few: a null counts or it does not.
    package static func candidates(_ name: String, _ values: VariableData) -> [String] {
        let nulls = values.sorted.filter { $0.value == .null }.map(\.key)
        guard !nulls.isEmpty, nulls.count <= 6 else { return [] }
        let sets = (1..<1 << nulls.count).sorted { $0.nonzeroBitCount > $1.nonzeroBitCount }
        return sets.map { set in
            let arguments = values.sorted.map { argument, value in
                let place = nulls.firstIndex(of: argument)
                return LiteralArgument(
                    name: argument, value: value,
                    distinguishesNull: place.map { set & 1 << $0 != 0 } ?? false)
            }
            return make(name, arguments, VariableData())
        }
    }

    private static func make(
        _ name: String, _ arguments: [any Argument], _ variables: VariableData
    ) -> String {
        var key = name
        var isFirst = true
        for argument in arguments {
            guard let value = argument.value(from: variables),
                value != .null || argument.distinguishesNull
            else { continue }
            key += isFirst ? "(" : ","
            isFirst = false
            key += argument.name + ":"
            value.writeStorageKey(to: &key)
        }
        if !isFirst { key += ")" }
        return key
    }
}

/// The arguments that distinguish null in the nodes of this process. There are as many as the schemas of its operations
/// have; an operation's nodes are made before anything can be in the store that they name.
private enum DistinguishedArguments {
    private struct Name: Hashable {
        let field: String
        let argument: String
    }

    private static let names = Lock<Set<Name>>([])

    static func insert(_ argument: String, of field: String) {
        names.withLock { _ = $0.insert(Name(field: field, argument: argument)) }
    }

    static func contain(_ argument: String, of field: String) -> Bool {
        names.withLock { $0.contains(Name(field: field, argument: argument)) }
    }
}
