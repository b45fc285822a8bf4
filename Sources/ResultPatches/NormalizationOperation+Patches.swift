package import RelayArtifacts

extension NormalizationOperation {
    /// Whether whole results can be made from patched records.
    ///
    /// Not if results say more than the records, namely which abstract types an object has beyond those that the
    /// compiler knew.
    package var isPatchable: Bool { hasRecords && selections.areSaidByRecords }

    /// Whether results say which of their data belongs in records. Whether the records of a result then have all of it
    /// depends on the result; see ``RecordNormalizer/records(of:textLimit:)``.
    ///
    /// Not if a result does not say the types that decide which of its fragments apply, or says a type only as
    /// `__isTYPE`: that would be in no record.
    package var hasRecords: Bool { selections.sayTypes }
}

extension [NormalizationSelection] {
    fileprivate var sayTypes: Bool {
        allSatisfy { selection in
            switch selection {
            case .linkedField(let field):
                let isKnown =
                    field.concreteType != nil || !field.selections.needType
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

    private var needType: Bool {
        contains { selection in
            switch selection {
            case .inlineFragment, .typeDiscriminator: true
            case .condition(let condition): condition.selections.needType
            case .defer(let part), .stream(let part): part.selections.needType
            default: false
            }
        }
    }
}

extension [NormalizationSelection] {
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
