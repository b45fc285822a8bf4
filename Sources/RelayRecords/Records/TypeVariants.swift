/// What is prepared for types that the compiler did not know, which may have abstract types that it asks for: one for
/// each set of answers.
package struct TypeVariants<Prepared> {
    private var variants: [(type: NameIndex, answers: [TypeQuestions.Answer], prepared: Prepared)] =
        []

    package init() {}

    /// Beyond, what is prepared is not kept: answers come from outside, and need not be the same twice.
    package static var limit: Int { 256 }

    /// What was prepared under the very answers that are given now.
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

/// Asks whether a type has abstract ones that the compiler did not count it to: about each once.
package struct TypeQuestions {
    /// Whether a type has an abstract one, as an object or the store says.
    package struct Answer: Equatable {
        package let abstractKey: String
        package let isYes: Bool
    }

    /// Where there are none, what is prepared is for all objects of the type.
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
    /// The record that keeps what objects told of their type.
    package static func typeRecordID(_ type: String) -> DataID { DataID("client:__type:" + type) }

    /// Whether objects told that a type has an abstract one (`__isTYPE`).
    package func type(_ type: NameIndex, has abstractKey: String) -> Bool {
        let id = Self.typeRecordID(symbols.nameString(type))
        guard let record = existing(id.rawValue) else { return false }
        return fieldValue(abstractKey, of: record) == .bool(true)
    }
}
