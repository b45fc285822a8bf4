/// What `@arguments` gives to a fragment, with the values of the variables where it is spread.
///
/// An argument whose variable has no value is given all the same: the fragment's own variable then has none, either, as
/// in the operation that was sent. A default is for what is not given.
package struct SpreadArguments: Hashable, Sendable {
    /// By name; nil without a value.
    private var values: [String: VariableValue?] = [:]

    /// No arguments.
    package init() {}

    /// - Parameter variables: those where the fragment is spread.
    package init(_ arguments: [any Argument], in variables: VariableData) {
        for argument in arguments {
            values.updateValue(argument.value(from: variables), forKey: argument.name)
        }
    }

    /// The value of a variable that the fragment declares.
    func value(of name: String, default defaultValue: VariableValue?) -> VariableValue? {
        if let given = values[name] { given } else { defaultValue }
    }
}
