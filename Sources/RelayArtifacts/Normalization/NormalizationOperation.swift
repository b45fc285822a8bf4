/// How the response to an operation becomes records: all fragments are part of its selections.
public final class NormalizationOperation: Sendable {
    /// The operation's name.
    public let name: String
    /// The variables that the operation declares.
    public let argumentDefinitions: [ArgumentDefinition]
    /// What is selected of the root.
    public let selections: [NormalizationSelection]

    /// As the compiler writes it; see the properties of the same names.
    public init(
        name: String, argumentDefinitions: [ArgumentDefinition] = [],
        selections: [NormalizationSelection]
    ) {
        self.name = name
        self.argumentDefinitions = argumentDefinitions
        self.selections = selections
    }
}
