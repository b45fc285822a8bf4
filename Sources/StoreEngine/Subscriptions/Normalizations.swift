import GraphQLExecution
import GraphQLLanguage
import RelayArtifacts
import RelayIR
import RelayJSON
@_spi(Rooms) import RelayRecords
import ResultPatches

extension RecordNormalizer {
    /// Bytes of the variables, and of the keys on the way to a field. They are repeated for each record below it.
    private static let keyBytes = 4_096
    /// Selections, with every fragment written out in each place where it is spread.
    private static let selectionLimit = 20_000

    /// Splits the results of a client's operation into records.
    /// - Returns: nil if the arguments are so long, or the operation so large, that whole results are cheaper.
    /// - Throws: if the operation has no normalization; a validated one always has.
    init?(
        _ operation: PreparedOperation, _ variables: CoercedVariables, schema: Schema
    ) throws(RelayDocumentErrors) {
        guard JSONValue.object(variables.values).approximateByteCount <= 4 * Self.keyBytes,
            operation.writtenOutSelectionCount <= Self.selectionLimit
        else { return nil }
        let normalized = try NormalizationOperation.normalizing(
            operation.definition, in: operation.document, schema: schema)
        self.init(
            normalized,
            variables: normalized.argumentDefinitions.operationVariables(
                given: VariableData(variables.values)))
        if extent.longestPath > Self.keyBytes { return nil }
    }
}

extension PreparedOperation {
    /// Selections, with every fragment written out in each place where it is spread.
    fileprivate var writtenOutSelectionCount: Int {
        var counts: [String: Int] = [:]
        let fragments = Dictionary(
            document.fragments.map { ($0.name.value, $0) }, uniquingKeysWith: { first, _ in first })
        func count(_ selectionSet: SelectionSet) -> Int {
            selectionSet.selections.reduce(0) { total, selection in
                var below = 0
                switch selection {
                case .field(let field): below = field.selectionSet.map(count) ?? 0
                case .inlineFragment(let fragment): below = count(fragment.selectionSet)
                case .fragmentSpread(let spread):
                    let name = spread.name.value
                    below = counts[name] ?? fragments[name].map { count($0.selectionSet) } ?? 0
                    counts[name] = below
                }
                // Doubled a hundred times it is still a number.
                return min(total + 1 + below, 1 << 40)
            }
        }
        return count(definition.selectionSet)
    }
}
