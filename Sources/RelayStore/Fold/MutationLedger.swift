import HashTreeCollections

/// Which mutations of each client have been applied, and what they were answered.
///
/// A client numbers its mutations, rising. The newest answers of each client are kept; of older ones it is
/// only known that they were applied. Part of the fold, so it survives restarts and has no time window.
package struct MutationLedger: Sendable {
    /// Answers kept for each client.
    package static let answerLimit = 1_000

    package struct Answer: Sendable, Hashable {
        /// The sequence of the response event.
        package let sequence: UInt64
        /// The response as it was sent: `{"data": …}`.
        package let bytes: [UInt8]

        package init(sequence: UInt64, bytes: [UInt8]) {
            self.sequence = sequence
            self.bytes = bytes
        }
    }

    package enum Status: Sendable, Hashable {
        case new
        case answered(Answer)
        /// Applied long ago; its answer is gone.
        case applied
    }

    struct Client: Sendable {
        /// The highest number whose answer is no longer kept.
        var dropped: UInt64?
        /// Numbers of answers, rising; those before `first` are dropped already.
        private var all: [UInt64]
        private var first = 0

        init(numbers: [UInt64] = [], dropped: UInt64? = nil) {
            all = numbers
            self.dropped = dropped
        }

        /// Numbers of the kept answers, rising.
        var numbers: ArraySlice<UInt64> { all[first...] }

        private mutating func insert(_ number: UInt64) {
            // Nearly always the highest so far: clients number their mutations in order.
            var place = all.count
            while place > first, all[place - 1] > number { place -= 1 }
            all.insert(number, at: place)
        }

        /// Adds a number; gives the one whose answer is no longer kept because of it.
        mutating func add(_ number: UInt64) -> UInt64? {
            insert(number)
            return numbers.count > MutationLedger.answerLimit ? dropFirst() : nil
        }

        private mutating func dropFirst() -> UInt64 {
            let number = all[first]
            first += 1
            dropped = number
            if first > MutationLedger.answerLimit {
                all.removeFirst(first)
                first = 0
            }
            return number
        }
    }

    private(set) var clients: TreeDictionary<String, Client> = [:]
    private var answers: TreeDictionary<MutationID, Answer> = [:]

    package func status(of id: MutationID) -> Status {
        if let answer = answers[id] { return .answered(answer) }
        if let dropped = clients[id.client]?.dropped, id.number <= dropped { return .applied }
        return .new
    }

    /// Keeps an answer; it takes the place of one that the same mutation got before.
    mutating func record(_ id: MutationID, _ answer: Answer) {
        if answers.updateValue(answer, forKey: id) != nil { return }
        // In place, so that a client's numbers are not copied for each of its mutations.
        let oldest = clients[id.client, default: Client()].add(id.number)
        if let oldest { answers[MutationID(client: id.client, number: oldest)] = nil }
    }

    mutating func restore(_ name: String, dropped: UInt64?, answers kept: [(UInt64, Answer)]) {
        clients[name] = Client(numbers: kept.map(\.0), dropped: dropped)
        for (number, answer) in kept {
            answers[MutationID(client: name, number: number)] = answer
        }
    }
}

/// `CLIENT:N`: the name a client gives one of its mutations; N rises with every one.
package struct MutationID: Hashable, Sendable, CustomStringConvertible {
    package let client: String
    package let number: UInt64

    package init(client: String, number: UInt64) {
        self.client = client
        self.number = number
    }

    /// Reads `CLIENT:N`; the client's name may itself have colons. Nil when the text is not that.
    package init?(_ text: String) {
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")), colon > text.startIndex,
            let number = UInt64(text[text.utf8.index(after: colon)...])
        else { return nil }
        self.init(client: String(text[..<colon]), number: number)
    }

    package var description: String { "\(client):\(number)" }
}
