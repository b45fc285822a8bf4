/// What is prepared for types that the compiler did not know, which may have abstract types that it asks for: one for
/// each set of answers.
struct TypeVariants<Prepared> {
    /// Whether a type has an abstract one, as an object or the store says.
    struct Answer: Equatable {
        let abstractKey: String
        let isYes: Bool
    }

    private var variants: [(type: NameIndex, answers: [Answer], prepared: Prepared)] = []

    /// Beyond, what is prepared is not kept: answers come from outside, and need not be the same twice.
    static var limit: Int { 256 }

    /// What was prepared under the very answers that are given now.
    func prepared(for type: NameIndex, has: (_ abstractKey: String) -> Bool) -> Prepared? {
        for variant in variants where variant.type == type {
            if variant.answers.allSatisfy({ has($0.abstractKey) == $0.isYes }) {
                return variant.prepared
            }
        }
        return nil
    }

    mutating func keep(_ prepared: Prepared, for type: NameIndex, _ answers: [Answer]) {
        if variants.count < Self.limit { variants.append((type, answers, prepared)) }
    }
}
