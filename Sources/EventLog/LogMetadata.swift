/// `META`: which store this is, its epoch, and the format. Five lines of text, replaced whole.
///
///     relay-log 1.0
///     store 00112233445566778899aabbccddeeff
///     epoch 1
///     acknowledges durable
///     crc32 0a1b2c3d
///
/// The crc32 covers the lines before it, line ends included. `META` is written after the first
/// segment, so a directory without it and without events is a creation that did not finish.
package struct LogMetadata: Hashable, Sendable {
    package var version: FormatVersion
    package var storeID: StoreID
    /// Rises when history may be rewritten: on repair, on fork, and after a loss of acknowledged
    /// events under a weaker durability. Begins at 1.
    package var epoch: UInt32
    /// Whether a writer has it open that acknowledges events before they are synced ("early" in the
    /// file). Still set when the log is opened, events may be missing that somebody was told of.
    package var acknowledgesEarly = false

    /// So that there is always a next one.
    static let largestEpoch = UInt32(Int32.max)

    static let fileName = "META"

    var encoded: [UInt8] {
        let text =
            "relay-log \(version)\nstore \(storeID)\nepoch \(epoch)\n"
            + "acknowledges \(acknowledgesEarly ? "early" : "durable")\n"
        return Array("\(text)crc32 \(Checksum.crc32(Array(text.utf8)).hexadecimal)\n".utf8)
    }

    static func read(_ bytes: [UInt8], file: String) throws(LogError) -> LogMetadata {
        let lines = String(decoding: bytes, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        if let version = lines.first.flatMap(version(line:)), !version.isReadable {
            throw .futureVersion(file, version)
        }
        guard lines.count == 6, lines[5].isEmpty,
            let version = version(line: lines[0]),
            let storeID = value("store", lines[1]).flatMap({ StoreID($0) }),
            let epoch = value("epoch", lines[2]).flatMap({ UInt32($0) }),
            epoch <= largestEpoch,
            let acknowledges = value("acknowledges", lines[3])
        else {
            throw .damaged(file, reason: "it is not what a META says, line for line")
        }
        let metadata = LogMetadata(
            version: version, storeID: storeID, epoch: epoch,
            acknowledgesEarly: acknowledges == "early")
        // A later minor version is kept as it is, so the text is checked, not the re-encoding.
        let covered = Array(lines[..<4].joined(separator: "\n").utf8) + [0x0A]
        guard value("crc32", lines[4]).map(String.init) == Checksum.crc32(covered).hexadecimal
        else {
            throw .damaged(file, reason: "it does not match its checksum")
        }
        return metadata
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

extension UInt32 {
    /// 8 hexadecimal digits.
    var hexadecimal: String {
        withUnsafeBytes(of: bigEndian) { $0.hexadecimal }
    }
}
