@_spi(Rooms) import RelayRecords

/// The canonical bytes of a snapshot's confirmed state: the payload of a checkpoint, and the input of
/// the state hash.
///
/// Equal states have equal bytes, whichever process made them and in whatever order it numbered ids
/// and names: nothing in them depends on a hash or an index. In order:
///
///     version         number, ``version``
///     sequence        number: the last event folded in
///     schema          text
///     creations       number: the one that the next new record gets
///     record count    number
///     records         in creation order, each
///       creation      number: the distance from the previous record (for the first: from 0)
///       shape         number: 0 and a new shape, or that of an earlier shape, from 1
///         new shape   type (name), count of keys, keys (names) in the order of their bytes
///       id            id
///       values        one for each key of the shape: tag (1 byte, ``Tag``) and value
///     deleted count   number
///     deleted         ids, in the order of their bytes
///     pending count   number
///     pending         sequence (number) and payload (text) of each open mutation, in log order
///     client count    number
///     clients         the unnamed viewer's first, then by the bytes of the viewers' names; for one viewer
///                     by the bytes of the clients' names; each
///       name          text
///       viewer        text: nothing, or `1` and the viewer's name
///       last          number: the sequence of the newest response
///       unknown       number: 0; or 1, and the number up to which nothing is known
///       ranges        count and, in ascending order: first number, and how many follow it
///       answers       count and, by number: number, sequence of the response, fingerprint (text, may be
///                     empty), answer (text)
///
/// In version 1 a client has its name, a 0, and answers without fingerprints.
///
/// A *number* is LEB128, a *text* is preceded by its length as a number. A *name* or an *id* is 0 and
/// its text at its first mention, which gives it the next number from 1; after that it is that number.
/// Fields that are unset have no key in the record's shape.
///
/// A list of links (with its holes, so that cursors into it stay valid) is its end, a number, and
/// then elements until that many places are filled: 0 and the length of a maximal run of holes, 1 for
/// null, 2 and the text of a new id, or 2 plus an id's number.
enum StateFormat {
    /// The fold versions that can be read. A version is added when the same events fold to a different state,
    /// or when a state contains something that earlier versions cannot represent. A checkpoint of another
    /// version is not read but recreated from the log.
    ///
    /// A state is written in the lowest version that can represent it (``version(of:)``), so that existing
    /// states keep the same bytes and the same hash permanently.
    static let versions: ClosedRange<UInt32> = 1...2
    static let version = versions.upperBound

    /// 2 as soon as the ledger contains more than answers, without fingerprints, of the unnamed viewer's
    /// clients.
    static func version(of snapshot: Snapshot) -> UInt32 {
        let ledger = snapshot.ledger
        return ledger.scopes.allSatisfy { ledger.entry(of: $0)?.isPlain ?? true } ? 1 : 2
    }

    enum Tag: UInt8 {
        case null = 1
        case `false` = 2
        case `true` = 3
        /// Zigzag LEB128.
        case int = 4
        /// 8 bytes, IEEE 754, little-endian.
        case double = 5
        case string = 6
        /// JSON text.
        case json = 7
        /// An id.
        case link = 8
        case links = 9
        /// Null because of field errors: their JSON text.
        case failed = 10
    }

    enum Place {
        static let holes: UInt64 = 0
        static let null: UInt64 = 1
        static let newID: UInt64 = 2
    }
}
