/// How the response to an operation becomes records: all fragments are part of its selections.
public final class NormalizationOperation: Sendable {
    /// The operation's name.
    package let name: String
    /// The variables that the operation declares.
    package let argumentDefinitions: [ArgumentDefinition]
    /// What is selected of the root.
    package let selections: [NormalizationSelection]

    /// An operation for writing, as the compiler writes it.
    /// - Parameters:
    ///   - name: the operation's name.
    ///   - argumentDefinitions: the variables that the operation declares.
    ///   - selections: what is selected of the root.
    public init(
        name: String, argumentDefinitions: [ArgumentDefinition] = [],
        selections: [NormalizationSelection]
    ) {
        self.name = name
        self.argumentDefinitions = argumentDefinitions
        self.selections = selections
    }
}
