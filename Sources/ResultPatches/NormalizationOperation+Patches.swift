package import RelayArtifacts

extension NormalizationOperation {
    /// Whether whole results can be made from patched records.
    ///
    /// Not if results say more than the records, namely which abstract types an object has beyond those that the
    /// compiler knew.
    package var isPatchable: Bool { hasRecords && selections.areSaidByRecords }

    /// Whether the records of a result have all of its data.
    ///
    /// Not if a result does not say the types that decide which of its fragments apply: their fields would be in no
    /// record. And not if fields of one name identify their records in different ways, here by id and there by place
    /// (no compiler writes that): a record would have one link for two.
    package var hasRecords: Bool {
        var namings: [String: RecordNaming] = [:]
        return selections.sayTypes && selections.agreeOnNames(&namings)
    }
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
    fileprivate func agreeOnNames(_ namings: inout [String: RecordNaming]) -> Bool {
        allSatisfy { selection in
            switch selection {
            case .scalarField, .handle, .clientExtension, .typeDiscriminator: return true
            case .linkedField(let field):
                let naming = RecordNaming(field.selections)
                guard namings[field.name, default: naming] == naming else { return false }
                namings[field.name] = naming
                return field.selections.agreeOnNames(&namings)
            case .inlineFragment(let fragment): return fragment.selections.agreeOnNames(&namings)
            case .condition(let condition): return condition.selections.agreeOnNames(&namings)
            case .defer(let part), .stream(let part): return part.selections.agreeOnNames(&namings)
            }
        }
    }

    fileprivate var areSaidByRecords: Bool {
        allSatisfy { selection in
            switch selection {
            case .scalarField, .handle, .clientExtension: true
            case .linkedField(let field): field.selections.areSaidByRecords
            case .inlineFragment(let fragment):
                fragment.abstractKey == nil && fragment.selections.areSaidByRecords
            case .condition(let condition): condition.selections.areSaidByRecords
            case .typeDiscriminator, .defer, .stream: false
            }
        }
    }
}
