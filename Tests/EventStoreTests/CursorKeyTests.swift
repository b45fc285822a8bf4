import Disk
import DiskSimulation
import EventLog
import Foundation
import LogTools
import Testing

@testable import EventStore

@Suite(.bounded) struct CursorKeyTests {
    private static let path = "d/cursor-key"

    private func disk(holding bytes: [UInt8]? = nil) throws -> SimulatedDisk {
        let disk = SimulatedDisk()
        try disk.createDirectory("d")
        try disk.synchronizeDirectory(".")
        guard let bytes else { return disk }
        try disk.replaceFile(CursorKey.fileName, in: "d", with: bytes)
        return disk
    }

    @Test func itIsMadeOnceAndThenRead() throws {
        let disk = try disk()
        let first = CursorKey.kept(in: "d", disk)
        #expect(first.bytes.count == 16 && first.remark == nil)
        #expect(try disk.contents(of: Self.path) == first.bytes)
        let second = CursorKey.kept(in: "d", disk)
        #expect(second.bytes == first.bytes && second.remark == nil)
        #expect(try disk.list("d") == ["cursor-key"])
        #expect(CursorKey.random().bytes != first.bytes)
    }

    /// The power goes at each call: then there is no key, or the one that the server has used.
    @Test func aPowerLossLeavesAWholeKeyOrNone() throws {
        var number = 0
        var isDone = false
        while !isDone {
            let disk = try disk()
            let last = disk.callCount + number
            disk.setFault { $0.number >= last ? .powerOff : nil }
            let key = CursorKey.kept(in: "d", disk)
            isDone = key.remark == nil
            for survival in [SimulatedDisk.Survival.nothing, .everything] {
                let after = CursorKey.kept(in: "d", disk.crashed(survival))
                #expect(after.remark == nil, "\(number)")
                if isDone { #expect(after.bytes == key.bytes) }
            }
            number += 1
        }
        #expect(number > 4)
    }

    @Test(
        arguments: [
            ([], "has 0 bytes instead of 16"), ([1, 2, 3], "has 3 bytes instead of 16"),
            (Array(repeating: 7, count: 17), "has 17 bytes instead of 16"),
            (Array(repeating: 0, count: 16), "holds no key"),
        ] as [([UInt8], String)])
    func aDamagedOneIsReplacedAndTheOperatorToldOnce(_ bytes: [UInt8], _ damage: String) throws {
        let disk = try disk(holding: bytes)
        let key = CursorKey.kept(in: "d", disk)
        #expect(
            key.remark == """
                d/cursor-key \(damage) and was replaced by a new key. Page cursors that clients have \
                from before are refused.
                """)
        #expect(key.bytes.count == 16 && key.bytes != bytes)
        let next = CursorKey.kept(in: "d", disk)
        #expect(next.bytes == key.bytes && next.remark == nil)
    }

    /// A full disk, say: the server starts all the same.
    @Test func oneThatCannotBeKeptIsGoodForOneRun() throws {
        let full = try disk()
        full.setFault { $0.name == "pwrite" ? .error(SimulatedDisk.noSpace) : nil }
        let key = CursorKey.kept(in: "d", full)
        #expect(
            key.remark == """
                The key of page cursors could not be read or kept: pwrite on d/cursor-key.tmp: No space \
                left on device. Until that is possible, page cursors are good for one run of the server.
                """)
        full.setFault(nil)
        let next = CursorKey.kept(in: "d", full)
        #expect(next.remark == nil && next.bytes != key.bytes)

        let unreadable = try disk(holding: next.bytes)
        unreadable.setFault { $0.name == "pread" ? .error(SimulatedDisk.inputOutput) : nil }
        #expect(CursorKey.kept(in: "d", unreadable).remark?.contains("pread") == true)
        // It may be readable again.
        unreadable.setFault(nil)
        #expect(CursorKey.kept(in: "d", unreadable).bytes == next.bytes)
    }

    @Test func onlyItsOwnerMayReadIt() throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/cursor-key"
        // Left by a server that stopped in between.
        #expect(FileManager.default.createFile(atPath: path + ".tmp", contents: Data([1])))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644], ofItemAtPath: path + ".tmp")
        let key = CursorKey.kept(in: directory.path, POSIXFileSystem())
        #expect(key.remark == nil)
        #expect(try POSIXFileSystem().contents(of: path) == key.bytes)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(!FileManager.default.fileExists(atPath: path + ".tmp"))
        #expect(CursorKey.kept(in: directory.path, POSIXFileSystem()).bytes == key.bytes)
    }

    /// It is no part of the log: tools leave it where it is, and a fork gets one of its own.
    @Test func toolsLeaveItAlone() throws {
        let history = try TodoHistory()
        let path = history.directory.path
        let disk = POSIXFileSystem()
        let key = CursorKey.kept(in: path, disk)
        #expect(try EventStore.verify(path).isIntact)
        let fork = TemporaryDirectory()
        try history.open().fork(at: 7, to: fork.path)
        #expect(try !disk.list(fork.path).contains(CursorKey.fileName))
        _ = try EventStore.compact(path, options: .quiet)
        #expect(try EventStore.verify(path).isIntact)
        let store = try EventStore.open(path, options: .quiet)
        defer { store.journal.close() }
        #expect(store.report.sentences == [])
        #expect(try disk.contents(of: path + "/cursor-key") == key.bytes)
    }
}
