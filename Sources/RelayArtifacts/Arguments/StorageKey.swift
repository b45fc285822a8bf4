/// Where a record keeps the value of a field: `name`, or `name(arg:json,…)` with the arguments sorted by
/// name and variables replaced by their values.
///
/// An argument that is not given is omitted. One that is null is omitted as well, as in relay-runtime, unless null is a
/// value of its own for it (``Argument/distinguishesNull``), or the client has made the field, as it makes a connection's
/// list: no schema is needed to name these. Without variables the key is computed once, when the node is made.
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
        let isConstant = arguments.allSatisfy(\.isConstant)
        constant = isConstant ? given ?? Self.make(name, self.arguments, VariableData()) : nil
    }

    /// The key with these variables.
    package func resolved(with variables: VariableData) -> String {
        constant ?? Self.make(name, arguments, variables)
    }

    /// The key of a field with these argument values: for code that names fields at run time.
    /// - Parameter distinguishesNull: whether null is a value of its own for an argument; see ``Argument/distinguishesNull``.
    package init(
        name: String, values: VariableData, distinguishesNull: (_ argument: String) -> Bool
    ) {
        self.init(
            name: name,
            arguments: values.sorted.map { argument, value in
                LiteralArgument(
                    name: argument, value: value,
                    distinguishesNull: value == .null && distinguishesNull(argument))
            })
    }

    private static func make(
        _ name: String, _ arguments: [any Argument], _ variables: VariableData
    ) -> String {
        var key = name
        var isFirst = true
        // The schema has no such names, but for introspection, whose arguments are never null.
        let isOfClient = name.utf8.starts(with: "__".utf8)
        for argument in arguments {
            guard let value = argument.value(from: variables),
                value != .null || isOfClient || argument.distinguishesNull
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
