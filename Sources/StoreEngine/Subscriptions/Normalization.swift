import GraphQLExecution
import GraphQLLanguage
import RelayArtifacts
import RelayIR
import RelayJSON
import ResultPatches

/// How the results of one operation are split into records.
struct Normalization: Sendable {
    private let normalizer: RecordNormalizer
    /// Approximate memory.
    let byteCount: Int

    /// A larger operation has whole results only.
    private static let byteLimit = 10 << 20

    /// - Returns: nil if the operation is so large that whole results are cheaper, or if some of its data would be in no
    ///   record.
    /// - Throws: if the operation has no normalization; a validated one always has.
    init?(of operation: PreparedOperation, schema: Schema) throws(ExecutionError) {
        byteCount = operation.writtenOutByteCount
        if byteCount > Self.byteLimit { return nil }
        let made: NormalizationOperation
        do throws(RelayDocumentErrors) {
            made = try NormalizationOperation.normalizing(
                operation.definition, in: operation.document, schema: schema)
        } catch {
            throw ExecutionError("The operation has no records: \(error)", code: .badUserInput)
        }
        guard made.hasRecords else { return nil }
        normalizer = RecordNormalizer(made, variables: [:])
    }

    /// The same for all copies.
    var id: ObjectIdentifier { ObjectIdentifier(normalizer.operation) }

    func normalizer(_ variables: CoercedVariables) -> RecordNormalizer {
        normalizer.under(
            normalizer.operation.argumentDefinitions.operationVariables(
                given: VariableData(variables.values)))
    }
}

extension PreparedOperation {
    /// Approximate memory of all selections with their arguments, with every fragment written out in each place
    /// where it is spread.
    fileprivate var writtenOutByteCount: Int {
        var counts: [String: Int] = [:]
        let fragments = Dictionary(
            document.fragments.map { ($0.name.value, $0) }, uniquingKeysWith: { first, _ in first })
        func count(_ selectionSet: SelectionSet) -> Int {
            selectionSet.selections.reduce(0) { total, selection in
                var below = 0
                switch selection {
                case .field(let field):
                    below = field.arguments.reduce(field.selectionSet.map(count) ?? 0) {
                        $0 + $1.value.approximateByteCount
                    }
                case .inlineFragment(let fragment): below = count(fragment.selectionSet)
                case .fragmentSpread(let spread):
                    let name = spread.name.value
                    below = counts[name] ?? fragments[name].map { count($0.selectionSet) } ?? 0
                    counts[name] = below
                }
                // Doubled a hundred times it is still a number.
                return min(total + 512 + below, 1 << 40)
            }
        }
        return count(definition.selectionSet)
    }
}

extension Value {
    fileprivate var approximateByteCount: Int {
        switch kind {
        case .string(let text, _), .enum(let text), .int(let text), .float(let text):
            64 + text.utf8.count
        case .variable, .boolean, .null: 64
        case .list(let items): items.reduce(64) { $0 + $1.approximateByteCount }
        case .object(let fields):
            fields.reduce(64) { $0 + $1.name.value.utf8.count + $1.value.approximateByteCount }
        }
    }
}
