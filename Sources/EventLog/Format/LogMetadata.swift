import Digests

/// `META`: the store's id, its epoch, the format, and how far the log reaches. Lines of text,
/// replaced as a whole.
///
///     relay-log 1.1
///     store 00112233445566778899aabbccddeeff
///     epoch 1
///     acknowledges durable
///     begins 41 checkpoint 40 a2d2a3e2…
///     reaches 5351 edbd66a3… segment 4801 closed
///     crc32 0a1b2c3d
///
/// The crc32 covers the lines before it, line ends included. `begins` and `reaches` are new in
/// version 1.1; lines with other names are ignored and kept. `META` is written after the first
/// segment, so a directory without it and without events is an unfinished creation.
package struct LogMetadata: Hashable, Sendable {
    package var version: FormatVersion
    package var storeID: StoreID
    /// Raised when history may be rewritten: on repair, on fork, and after a loss of acknowledged events
    /// under a weaker durability. Starts at 1.
    package var epoch: UInt32
    /// Whether a writer that acknowledges events before they are synced has the log open ("early" in the
    /// file). If it is still set when the log is opened, acknowledged events may be missing.
    package var acknowledgesEarly = false
    /// Nil in a META of version 1.0, which does not record it.
    package var beginning: LogBeginning?
    /// Nil in a META of version 1.0, which does not record it.
    package var reached: LogReach?
    /// Lines from a later minor version, unchanged.
    private var otherLines: [String] = []

    package init(
        version: FormatVersion, storeID: StoreID, epoch: UInt32, acknowledgesEarly: Bool = false,
        beginning: LogBeginning? = nil, reached: LogReach? = nil
    ) {
        self.version = version
        self.storeID = storeID
        self.epoch = epoch
        self.acknowledgesEarly = acknowledgesEarly
        self.beginning = beginning
        self.reached = reached
    }

    static let largestEpoch = UInt32(Int32.max)

    /// The next epoch.
    /// - Throws: `conflict` if there is none.
    package static func epoch(
        after epoch: UInt32, in directory: LogDirectory
    ) throws(LogError) -> UInt32 {
        guard epoch < largestEpoch else { throw .lastEpoch(directory.path) }
        return epoch + 1
    }

    static let fileName = "META"

    private static let fixedLineCount = 4

    var encoded: [UInt8] {
        var lines = [
            "relay-log \(version)", "store \(storeID)", "epoch \(epoch)",
            "acknowledges \(acknowledgesEarly ? "early" : "durable")",
        ]
        if let beginning { lines.append("begins \(beginning.text)") }
        if let reached { lines.append("reaches \(reached.text)") }
        let text = (lines + otherLines).map { $0 + "\n" }.joined()
        return Array("\(text)crc32 \(Checksum.crc32(Array(text.utf8)).hexadecimal)\n".utf8)
    }

    static func read(_ bytes: [UInt8], file: String) throws(LogError) -> LogMetadata {
        let lines = String(decoding: bytes, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        if let version = lines.first.flatMap(version(line:)), !version.isReadable {
            throw .futureVersion(file, version)
        }
        guard lines.count >= fixedLineCount + 2, lines.last?.isEmpty == true,
            let version = version(line: lines[0]),
            let storeID = value("store", lines[1]).flatMap({ StoreID($0) }),
            let epoch = value("epoch", lines[2]).flatMap({ UInt32($0) }),
            epoch <= largestEpoch,
            let acknowledges = value("acknowledges", lines[3])
        else {
            throw .damaged(file, reason: "it is not what a META says, line for line")
        }
        // Lines from a later minor version are covered too, so the text is checked, not the re-encoding.
        let covered = Array(lines.dropLast(2).map { $0 + "\n" }.joined().utf8)
        let checksum = value("crc32", lines[lines.count - 2]).map(String.init)
        guard checksum == Checksum.crc32(covered).hexadecimal else {
            throw .damaged(file, reason: "it does not match its checksum")
        }
        var metadata = LogMetadata(
            version: version, storeID: storeID, epoch: epoch,
            acknowledgesEarly: acknowledges == "early")
        for line in lines.dropFirst(fixedLineCount).dropLast(2) {
            try metadata.readOptional(line, file: file)
        }
        return metadata
    }

    private mutating func readOptional(_ line: Substring, file: String) throws(LogError) {
        if let text = Self.value("begins", line) {
            guard let beginning = LogBeginning(text) else {
                throw .damaged(file, reason: "it does not say where the log begins")
            }
            self.beginning = beginning
        } else if let text = Self.value("reaches", line) {
            guard let reached = LogReach(text) else {
                throw .damaged(file, reason: "it does not say how far the log reaches")
            }
            self.reached = reached
        } else {
            otherLines.append(String(line))
        }
    }

    /// The epoch in a damaged META; nil if it is not a plausible number. At least half of all epochs must be
    /// left, in case the number itself is damaged.
    package static func epoch(ofDamaged bytes: [UInt8]) -> UInt32? {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n")
            .compactMap { value("epoch", $0).flatMap { UInt32($0) } }
            .filter { $0 <= largestEpoch / 2 }.max()
    }

    private static func version(line: Substring) -> FormatVersion? {
        guard let parts = value("relay-log", line)?.split(separator: "."), parts.count == 2,
            let major = UInt16(parts[0]), let minor = UInt16(parts[1])
        else { return nil }
        return FormatVersion(major: major, minor: minor)
    }

    private static func value(_ name: String, _ line: Substring) -> Substring? {
        guard line.hasPrefix(name + " ") else { return nil }
        return line.dropFirst(name.utf8.count + 1)
    }
}

extension LogError {
    fileprivate static func damaged(_ file: String, reason: String) -> LogError {
        .damaged(LogDamage(file: file, offset: 0, length: nil, sequence: nil, reason: reason))
    }
}
