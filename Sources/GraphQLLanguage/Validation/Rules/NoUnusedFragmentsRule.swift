/// Fragments must be used (GraphQL §5.5.1.4).
struct NoUnusedFragmentsRule {
    private let context: ValidationContext
    private var isUsed: [Bool]

    init(_ context: ValidationContext) {
        self.context = context
        self.isUsed = Array(repeating: false, count: context.fragments.count)
    }

    /// Notes the fragments that one operation uses.
    mutating func note(_ reached: [Int]) {
        for index in reached { isUsed[index] = true }
    }

    func check() {
        for fragment in context.fragments.map(\.node) {
            let name = fragment.name.value
            // A second fragment of the same name counts as used if the first is.
            guard let index = context.fragmentIndex(named: name), !isUsed[index] else { continue }
            context.report("Fragment \"\(name)\" is never used.", at: fragment.location)
        }
    }
}
