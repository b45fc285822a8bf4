import RelayArtifacts
import RelayJSON

/// What an operation selects, as its responses have it: the members of an object by its type, in order.
///
/// For operations without fragments on abstract types; see ``RequestRecords``.
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

    /// The type of all objects here, where the schema leaves no choice.
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
        var members = Members(type: type, variables: variables)
        for source in sources { members.add(source) }
        let fields = members.fields
        known[type] = fields
        return fields
    }

    /// Fields that are selected on objects of one type, those of one name merged.
    private struct Members {
        let type: String?
        let variables: VariableData
        private var names: [String] = []
        private var leaves: [String: NormalizationScalarField] = [:]
        private var links: [String: [NormalizationLinkedField]] = [:]

        init(type: String?, variables: VariableData) {
            self.type = type
            self.variables = variables
        }

        mutating func add(_ selections: [NormalizationSelection]) {
            for selection in selections {
                switch selection {
                case .scalarField(let field):
                    if leaves.updateValue(field, forKey: field.responseName) == nil {
                        names.append(field.responseName)
                    }
                case .linkedField(let field):
                    if links[field.responseName] == nil { names.append(field.responseName) }
                    links[field.responseName, default: []].append(field)
                case .inlineFragment(let fragment):
                    if let type, fragment.type == type || fragment.possibleTypes.contains(type) {
                        add(fragment.selections)
                    }
                case .condition(let condition):
                    if condition.holds(under: variables) { add(condition.selections) }
                case .defer(let part): add(part.selections)
                case .stream(let part): add(part.selections)
                case .handle, .typeDiscriminator, .clientExtension: continue
                }
            }
        }

        var fields: [Field] {
            names.map { name in
                let quoted = Array("\"\(name)\":".utf8)
                if let field = leaves[name] {
                    let key =
                        field.name == ResultRecords.typeKey.text
                        ? field.name : field.key.resolved(with: variables)
                    return Field(quoted: quoted, key: key, content: .leaf)
                }
                let parts = links[name] ?? []
                let plan = ResultPlan(
                    parts.map(\.selections),
                    concreteType: parts.lazy.compactMap(\.concreteType).first, variables)
                return Field(
                    quoted: quoted, key: parts[0].key.resolved(with: variables),
                    content: parts.contains(where: \.plural) ? .list(plan) : .object(plan))
            }
        }
    }
}
