import GraphQLExecution
import GraphQLLanguage
import RelayArtifacts
import RelayIR
@_spi(Rooms) import RelayRecords
import ResultPatches

extension RecordNormalizer {
    /// Bytes of ``longestPath``.
    private static let pathLimit = 4_096

    /// Splits the results of a client's operation into records.
    /// - Returns: nil if the arguments are so long that whole results are shorter.
    /// - Throws: if the operation has no normalization; a validated one always has.
    init?(
        _ operation: PreparedOperation, _ variables: CoercedVariables, schema: Schema
    ) throws(RelayDocumentErrors) {
        let normalized = try NormalizationOperation.normalizing(
            operation.definition, in: operation.document, schema: schema)
        self.init(
            normalized,
            variables: normalized.argumentDefinitions.operationVariables(
                given: VariableData(variables.values)))
        if longestPath > Self.pathLimit { return nil }
    }
}
