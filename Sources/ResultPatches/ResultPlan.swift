import RelayArtifacts
import RelayJSON

/// What an operation selects, in the form of its responses: the members of an object by its type, in order.
///
/// For operations without fragments on abstract types; see `isPatchable`.
final class ResultPlan {
    struct Field {
        enum Content {
            case leaf
            case object(ResultPlan)
            case list(ResultPlan)
        }

        /// `"name":`
        let quoted: [UInt8]
        /// The storage key.
        let key: String
        let content: Content
    }

    /// The type of all objects here, if the schema leaves no choice.
    let concreteType: String?
    private let sources: [[NormalizationSelection]]
    private let variables: VariableData
    private var known: [String?: [Field]] = [:]

    init(
        _ sources: [[NormalizationSelection]], concreteType: String? = nil,
        _ variables: VariableData
    ) {
        self.sources = sources
        self.concreteType = concreteType
        self.variables = variables
    }

    /// The members of an object of a type.
    func fields(of type: String?) -> [Field] {
        if let fields = known[type] { return fields }
        var selected = Selected()
        for source in sources { add(source, of: type, to: &selected) }
        let fields = selected.all.map(field)
        known[type] = fields
        return fields
    }

    private typealias Selected = MergedFields<NormalizationScalarField, NormalizationLinkedField>

    private func add(
        _ selections: [NormalizationSelection], of type: String?, to selected: inout Selected
    ) {
        for selection in selections {
            switch selection {
            case .scalarField(let field): selected.add(field.responseName, leaf: field)
            case .linkedField(let field): selected.add(field.responseName, link: field)
            case .inlineFragment(let fragment):
                if let type, fragment.counts(for: type) {
                    add(fragment.selections, of: type, to: &selected)
                }
            case .condition(let condition):
                if condition.holds(under: variables) {
                    add(condition.selections, of: type, to: &selected)
                }
            case .defer(let part): add(part.selections, of: type, to: &selected)
            case .stream(let part): add(part.selections, of: type, to: &selected)
            case .handle, .typeDiscriminator, .clientExtension: continue
            }
        }
    }

    private func field(_ name: String, _ field: Selected.Field) -> Field {
        let quoted = Array("\"\(name)\":".utf8)
        switch field {
        case .leaf(let field):
            let key =
                field.name == ResultRecords.typeKey.text
                ? field.name : field.key.resolved(with: variables)
            return Field(quoted: quoted, key: key, content: .leaf)
        case .links(let parts):
            let plan = ResultPlan(
                parts.map(\.selections),
                concreteType: parts.lazy.compactMap(\.concreteType).first, variables)
            return Field(
                quoted: quoted, key: parts[0].key.resolved(with: variables),
                content: parts.contains(where: \.plural) ? .list(plan) : .object(plan))
        }
    }
}
