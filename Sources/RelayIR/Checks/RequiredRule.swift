import GraphQLLanguage
package import RelayArtifacts

/// A `@required` field is so wherever it is selected, and no less severely than the object that its null makes null.
enum RequiredRule {
    static func check(_ field: TypedField, _ place: SelectionPlace, _ context: RuleContext) {
        let action = field.requiredAction
        if let first = place.fields[field.responseName], first.requiredAction != action {
            context.report(
                "Field \"\(field.responseName)\" must be @required with the same action wherever it is "
                    + "selected.", at: first.location, field.location)
        }
        // An element of a list becomes null alone; the list stays.
        guard let action, let parent = place.field, parent.definition.type.listItem == nil,
            let parentAction = parent.requiredAction, action.severity < parentAction.severity
        else { return }
        context.report(
            "Field \"\(field.responseName)\" cannot be @required(action: \(action.rawValue)): its null "
                + "makes \"\(parent.responseName)\" null, which is @required(action: "
                + "\(parentAction.rawValue)).", at: field.location, parent.location)
    }
}

extension TypedField {
    /// nil without `@required`.
    fileprivate var requiredAction: RequiredAction? { directives.requiredAction }
}

extension [Directive] {
    /// nil without `@required`.
    package var requiredAction: RequiredAction? {
        named("required").map {
            RequiredAction(rawValue: $0.argument("action")?.printed() ?? "") ?? .none
        }
    }

    /// nil without `@catch`.
    package var catchTarget: CatchTarget? {
        named("catch").map { CatchTarget(rawValue: $0.argument("to")?.printed() ?? "") ?? .result }
    }
}

extension RequiredAction {
    fileprivate var severity: Int {
        switch self {
        case .none: 0
        case .log: 1
        case .throw: 2
        }
    }
}
