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
        let isConstant = arguments.allSatisfy(\.isConstant)
        constant = isConstant ? given ?? Self.make(name, self.arguments, VariableData()) : nil
    }

    /// The key with these variables.
    package func resolved(with variables: VariableData) -> String {
        constant ?? Self.make(name, arguments, variables)
    }

    /// The key of a field with these argument values: for code that names fields at run time.
    package init(name: String, values: VariableData, distinguishesNull: Bool = false) {
        self.init(
            name: name,
            arguments: values.sorted.map {
                LiteralArgument(
                    name: $0.key, value: $0.value, distinguishesNull: distinguishesNull)
            })
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
