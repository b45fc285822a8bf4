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
