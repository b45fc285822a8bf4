package import RelayArtifacts

extension NormalizationOperation {
    /// Whether whole results can be made from patched records.
    ///
    /// Not if results say more than the records, namely which abstract types an object has beyond those that the
    /// compiler knew. And not if fields of one name identify their records in different ways, here by id and there
    /// by place (no compiler writes that): a record would have one link for two.
    package var isPatchable: Bool {
        var namings: [String: RecordNaming] = [:]
        return selections.arePatchable(&namings)
    }

    /// Whether a result says the types that decide which of its fragments apply. Otherwise their fields are in the data
    /// and in no record.
    package var saysTypes: Bool { selections.sayTypes }
}

extension [NormalizationSelection] {
    fileprivate var sayTypes: Bool {
        allSatisfy { selection in
            switch selection {
            case .linkedField(let field):
                let isKnown =
                    field.concreteType != nil || !field.selections.haveFragments
                    || field.selections.haveTypename
                return isKnown && field.selections.sayTypes
            case .inlineFragment(let fragment): return fragment.selections.sayTypes
            case .condition(let condition): return condition.selections.sayTypes
            case .defer(let part), .stream(let part): return part.selections.sayTypes
            case .scalarField, .handle, .typeDiscriminator, .clientExtension: return true
            }
        }
    }

    private var haveTypename: Bool {
        contains { selection in
            if case .scalarField(let field) = selection {
                field.name == "__typename"
            } else {
                false
            }
        }
    }

    private var haveFragments: Bool {
        contains { selection in
            switch selection {
            case .inlineFragment: true
            case .condition(let condition): condition.selections.haveFragments
            case .defer(let part), .stream(let part): part.selections.haveFragments
            default: false
            }
        }
    }
}

/// How the record of a linked object is identified.
private struct RecordNaming: Equatable {
    /// By its own id.
    var hasID = false
    /// By the id of its node.
    var hasNodeID = false

    init(_ selections: [NormalizationSelection]) { add(selections) }

    private mutating func add(_ selections: [NormalizationSelection]) {
        for selection in selections {
            switch selection {
            case .scalarField(let field): hasID = hasID || field.name == "id"
            case .linkedField(let field):
                hasNodeID =
                    hasNodeID || field.name == "node" && RecordNaming(field.selections).hasID
            case .inlineFragment(let fragment): add(fragment.selections)
            case .condition(let condition): add(condition.selections)
            case .handle, .typeDiscriminator, .clientExtension, .defer, .stream: continue
            }
        }
    }
}

extension [NormalizationSelection] {
    fileprivate func arePatchable(_ namings: inout [String: RecordNaming]) -> Bool {
        allSatisfy { selection in
            switch selection {
            case .scalarField, .handle, .clientExtension: return true
            case .linkedField(let field):
                let naming = RecordNaming(field.selections)
                guard namings[field.name, default: naming] == naming else { return false }
                namings[field.name] = naming
                return field.selections.arePatchable(&namings)
            case .inlineFragment(let fragment):
                return fragment.abstractKey == nil
                    && fragment.selections.arePatchable(&namings)
            case .condition(let condition): return condition.selections.arePatchable(&namings)
            case .typeDiscriminator, .defer, .stream: return false
            }
        }
    }
}
