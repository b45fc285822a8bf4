import HashTreeCollections

/// What the ledger knows of one client: its newest answers, and which older mutations were applied.
struct LedgerClient: Sendable {
    /// An answer, and the number of the mutation that was answered after it.
    private struct Kept: Sendable {
        var answer: MutationLedger.Answer
        var next: UInt64?
    }

    /// The sequence of the newest response.
    var lastSequence: UInt64 = 0
    /// Mutations that were applied and whose answers are gone.
    private(set) var applied = NumberRanges()
    /// By mutation number; linked from the oldest to the newest response.
    private var kept: TreeDictionary<UInt64, Kept> = [:]
    private var first: UInt64?
    private var last: UInt64?
    /// The clients before and after it, in the order of their newest responses.
    var older: MutationScope?
    var newer: MutationScope?

    init() {}

    /// - Parameter answers: by number.
    init(
        lastSequence: UInt64, applied: NumberRanges,
        answers: [(number: UInt64, answer: MutationLedger.Answer)]
    ) {
        self.lastSequence = lastSequence
        self.applied = applied
        for (number, answer) in answers.sorted(by: { $0.answer.sequence < $1.answer.sequence }) {
            append(number, answer)
        }
    }

    var answerCount: Int { kept.count }

    /// By number, in increasing order.
    var answers: [(number: UInt64, answer: MutationLedger.Answer)] {
        kept.map { (number: $0.key, answer: $0.value.answer) }.sorted { $0.number < $1.number }
    }

    /// The approximate size of its answers.
    private var answerBytes = 0

    /// The approximate size of the client without its name.
    var byteCount: Int { 192 + 16 * applied.ranges.count + answerBytes }

    func status(of number: UInt64) -> MutationLedger.Status {
        if let answer = kept[number]?.answer {
            return answer.bytes.isEmpty ? .applied : .answered(answer)
        }
        return switch applied.answer(number) {
        case .contained: .applied
        case .unknown: .unknown
        case .missing: .new
        }
    }

    /// Keeps an answer. The last one may be replaced, as by the next root field of an operation; any other
    /// mutation keeps its first answer.
    mutating func add(_ number: UInt64, _ answer: MutationLedger.Answer) {
        if last == number, let before = kept[number]?.answer {
            kept[number]?.answer = answer
            answerBytes += answer.cost - before.cost
        } else if kept[number] == nil {
            append(number, answer)
        }
    }

    private mutating func append(_ number: UInt64, _ answer: MutationLedger.Answer) {
        kept[number] = Kept(answer: answer, next: nil)
        answerBytes += answer.cost
        if let last { kept[last]?.next = number } else { first = number }
        last = number
    }

    /// Drops the oldest answer; it stays known that the mutation was applied.
    mutating func dropOldest(rangeLimit: Int) {
        guard let number = first, let oldest = kept.removeValue(forKey: number) else { return }
        answerBytes -= oldest.answer.cost
        first = oldest.next
        if first == nil { last = nil }
        applied.insert(number, limit: rangeLimit)
    }
}
