/// Where keys come from, which may be others later.
package protocol KeySource: Sendable {
    /// The keys as far as they are known. Never waits, neither for a disk nor for a network.
    var keysAtHand: KeySet { get }
    /// A token has named a key that is not there (`TokenError.unknownKey`): whoever can ask for the newest keys does so,
    /// later and elsewhere. Anybody can make such tokens.
    func missedKey()
}

extension KeyFile: KeySource {
    /// The file is looked at often enough (``KeyFile/watch()``).
    package func missedKey() {}
}

/// The keys that were read last from where they come from, and what there is to say about each reading.
///
/// A source that has become unusable changes nothing: the keys that were good stay, and the reason is reported, once. So
/// its failure does not lock everybody out, and neither does it revoke anything; keys go when they are gone from a source
/// that works.
package struct KeptKeys<Failure: Error & Equatable>: Sendable {
    /// What happened, for the log.
    package enum Report: Sendable {
        /// New keys are used, and maybe some of the source are not.
        case loaded(KeySet)
        /// The keys are as they were.
        case kept(Failure)
        /// There have not been any keys yet.
        case missing(Failure)
    }

    package private(set) var keys = KeySet.none
    /// What the keys were read from.
    private var bytes: [UInt8]?
    private var problem: Failure?

    package init() {}

    /// There have been keys, whether or not there are any now.
    package var haveBeenRead: Bool { bytes != nil }

    /// Whether this is what was read last, so that it need not be parsed again.
    package func areFrom(_ bytes: [UInt8]) -> Bool { problem == nil && bytes == self.bytes }

    /// - Parameter bytes: what the keys were read from.
    package mutating func replace(with keys: KeySet, from bytes: [UInt8]) -> Report {
        self.keys = keys
        self.bytes = bytes
        problem = nil
        return .loaded(keys)
    }

    /// - Returns: nil if that is known.
    package mutating func keep(because failure: Failure) -> Report? {
        if failure == problem { return nil }
        problem = failure
        return keys.isEmpty ? .missing(failure) : .kept(failure)
    }
}
