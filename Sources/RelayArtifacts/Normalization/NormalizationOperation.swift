/// How the response to an operation becomes records: all fragments are part of its selections.
public final class NormalizationOperation: Sendable {
    public let name: String
    public let argumentDefinitions: [ArgumentDefinition]
    public let selections: [NormalizationSelection]

    public init(
        name: String, argumentDefinitions: [ArgumentDefinition] = [],
        selections: [NormalizationSelection]
    ) {
        self.name = name
        self.argumentDefinitions = argumentDefinitions
        self.selections = selections
    }
}
