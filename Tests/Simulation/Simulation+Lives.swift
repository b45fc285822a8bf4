import BoundedTesting
import DiskSimulation
import EventLog
import EventStore
@_spi(Rooms) import RelayStore
import StoreEngine
import Threads

@testable import RelayServer

// What becomes of the disk, and the lives of the server.
extension Simulation {
    // MARK: The disk

    func fillDisk() {
        note("the disk is full")
        disk.setCapacity(disk.usedBytes + Int.random(in: 0...4_000, using: &random))
    }

    func takeDescriptors() {
        note("no descriptors")
        hasReadFaults = true
        let random = SharedGenerator(self.random.next())
        disk.setFault { call in
            call.name == "open" && random.coin() ? .error(SimulatedDisk.tooManyOpenFiles) : nil
        }
    }

    func failDisk() {
        note("the disk fails")
        hasFailedDisk = true
        let random = SharedGenerator(self.random.next())
        disk.setFault { call in
            ["fdatasync", "pwrite", "fsync"].contains(call.name) && random.coin()
                ? .error(SimulatedDisk.inputOutput) : nil
        }
    }

    func healDisk() {
        disk.setFault(nil)
        disk.setCapacity(.max)
    }

    // MARK: Lives of the server

    func start() throws {
        guard server == nil else { return }
        disk.onRemove { [weak self] in self?.archive($0) }
        if Int.random(in: 0..<8, using: &random) == 0 { try compact() }
        note("start")
        disk.setPause { [scheduler] in scheduler.pause() }
        do {
            let server = try SimulatedServer(self, on: disk, durability, scheduler)
            server.follow(from: server.service.snapshot.sequence + 1)
            self.server = server
            made += server.parts.map(Made.init)
        } catch let violation as Violation {
            throw violation
        } catch {
            // A disk that fails, or is full, is a reason; a damaged log is none.
            if "\(error)".contains("damaged") { throw Violation("a start is refused: \(error)") }
            note("which failed: \(error)")
            try end(losesPower: false)
            healDisk()
        }
    }

    /// Drops the events that lead to the newest state, as an operator does while no server runs. The power may go
    /// meanwhile.
    func compact() throws {
        note("compact")
        var options = SimulatedServer.options(self, scheduler, disk)
        options.log.onFreeze = { _ in }
        let losesPower = Bool.random(using: &random)
        if losesPower {
            let last = disk.callCount + Int.random(in: 0..<400, using: &random)
            disk.setFault { $0.number > last ? .powerOff : nil }
        }
        do {
            _ = try EventStore.compact("log", options: options)
        } catch {
            if !losesPower, "\(error)".contains("damaged") {
                throw Violation("a compaction is refused: \(error)")
            }
            note("which failed: \(error)")
        }
        if losesPower { try end(losesPower: true) }
        disk.onRemove { [weak self] in self?.archive($0) }
    }

    /// A file is about to be removed: keeps what events it has.
    func archive(_ path: String) {
        guard path.hasPrefix("log/segments/") else { return }
        do {
            archive = try EventsOfLog(disk.killed(), archive).events
        } catch {
            violate("before \(path) was removed: \(error)")
        }
    }

    func restartFrozen() throws {
        if !hasFailedDisk { throw Violation("the log froze, and no write or sync had failed") }
        note("frozen")
        healDisk()
        try crash(losesPower: false)
        try start()
    }

    func crash(losesPower: Bool) throws {
        note(losesPower ? "power loss" : "kill -9")
        try end(losesPower: losesPower)
    }

    /// In order, as ``Server/stop()`` does: nothing that was answered is lost after that, whatever the durability and
    /// whatever becomes of the power. Half of the time something is in the way; then it is as a kill.
    func stop() throws {
        guard let server else { return }
        let isUndisturbed = Bool.random(using: &random)
        note(isUndisturbed ? "stop" : "stop, if possible")
        if isUndisturbed { healDisk() }
        server.beginToStop()
        for _ in 0..<Int.random(in: 1...30, using: &random)
        where isUndisturbed || server.unansweredCount > 0 {
            turn(20)
            upstream.answerAll()
            scheduler.pass(milliseconds: 100)
            try check()
        }
        if isUndisturbed {
            server.isLoopBusy = false
            for _ in 0..<30 where server.unansweredCount > 0 && !isFrozen {
                upstream.answerAll()
                settle()
                scheduler.pass(milliseconds: 1_000)
                try check()
            }
            if server.unansweredCount > 0, !isFrozen {
                throw Violation("a server stops, and \(server.unansweredCount) are not answered")
            }
        }
        for peer in peers { peer.cut() }
        var isClosed = isUndisturbed
        do {
            try server.close()
        } catch {
            isClosed = false
            note("without a checkpoint: \(error)")
        }
        try end(
            losesPower: Bool.random(using: &random), isClosed: isClosed && !isFrozen)
    }

    /// - Parameter isClosed: everything is on the disk.
    func end(losesPower: Bool, isClosed: Bool = false) throws {
        if server != nil { lastRan = frozenAt ?? scheduler.now }
        let found: SimulatedDisk
        if losesPower {
            let isHarsh = Bool.random(using: &random)
            found = disk.crashed(
                isHarsh ? .nothing : .random(SeededGenerator(seed: random.next())))
            if !isClosed { facts.losePower(at: lastRan) }
        } else {
            found = disk.killed()
        }
        server?.kill()
        server = nil
        facts.endLife()
        for peer in peers { peer.cut() }
        disk = found
        frozenAt = nil
        hasFailedDisk = false
        hasReadFaults = false
        // Nobody of the old process goes on in the new one.
        let time = scheduler.now
        let old = scheduler
        scheduler = Scheduler(time: time, random: SeededGenerator(seed: random.next()))
        old.moveTimers(to: scheduler)
        old.stop()
    }
}

/// Tosses coins from any thread.
private final class SharedGenerator: Sendable {
    private let random: Lock<SeededGenerator>

    init(_ seed: UInt64) { random = Lock(SeededGenerator(seed: seed)) }

    func coin() -> Bool { random.withLock { Bool.random(using: &$0) } }
}
