/// What is prepared for types that the compiler did not know and that may belong to abstract types it asks for: one
/// variant for each set of answers.
package struct TypeVariants<Prepared> {
    private var variants: [(type: NameIndex, answers: [TypeQuestions.Answer], prepared: Prepared)] =
        []

    package init() {}

    /// Beyond this, variants are not cached: answers come from outside, and may never repeat.
    package static var limit: Int { 256 }

    /// What was prepared for exactly these answers.
    package func prepared(for type: NameIndex, has: (_ abstractKey: String) -> Bool) -> Prepared? {
        for variant in variants where variant.type == type {
            if variant.answers.allSatisfy({ has($0.abstractKey) == $0.isYes }) {
                return variant.prepared
            }
        }
        return nil
    }

    package mutating func keep(
        _ prepared: Prepared, for type: NameIndex, _ answers: [TypeQuestions.Answer]
    ) {
        if variants.count < Self.limit { variants.append((type, answers, prepared)) }
    }
}

/// Asks whether a type belongs to abstract ones that the compiler did not assign it to: once for each.
package struct TypeQuestions {
    /// Whether a type belongs to an abstract one, according to a response or the store.
    package struct Answer: Equatable {
        package let abstractKey: String
        package let isYes: Bool
    }

    /// If there are none, what is prepared is for all objects of the type.
    package private(set) var answers: [Answer] = []
    private let has: (_ abstractKey: String) -> Bool

    package init(_ has: @escaping (_ abstractKey: String) -> Bool) { self.has = has }

    package mutating func ask(_ abstractKey: String) -> Bool {
        if let known = answers.first(where: { $0.abstractKey == abstractKey }) {
            return known.isYes
        }
        let isYes = has(abstractKey)
        answers.append(Answer(abstractKey: abstractKey, isYes: isYes))
        return isYes
    }
}

extension Snapshot {
    /// The record that keeps what responses said about a type.
    package static func typeRecordID(_ type: String) -> DataID { DataID("client:__type:" + type) }

    /// Whether responses said that a type belongs to an abstract one (`__isTYPE`).
    package func type(_ type: NameIndex, has abstractKey: String) -> Bool {
        let id = Self.typeRecordID(symbols.nameString(type))
        guard let record = existing(id.rawValue) else { return false }
        return fieldValue(abstractKey, of: record) == .bool(true)
    }
}
