import DiskSimulation
import EventLog

@testable import RelayServer

// So much comes that queues fill.
extension Simulation {
    /// - Parameter isKnown: all of it in documents that the server knows.
    func burst(isKnown: Bool = false) {
        note("a burst")
        for _ in 0..<24 { clients[2].mutate(&random, isKnown: isKnown) }
    }

    /// Much comes while the disk takes its time, and perhaps finds no room then.
    func slowDisk() throws {
        note("the disk is slow")
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            Bool.random(using: &random) ? mutate() : burst()
            if Bool.random(using: &random) { repeatMutation() }
            scheduler.whileThreadsRest { turn(Int.random(in: 20...100, using: &random)) }
            try check()
        }
        if Int.random(in: 0..<4, using: &random) == 0 { try refuseIntents() }
    }

    /// Mutations whose handlers would wait come twice, and their intents find no room on the disk.
    func refuseIntents() throws {
        guard let server else { return }
        note("the disk refuses")
        for _ in 0..<3 {
            clients[2].mutate(&random, isKnown: true, waits: true)
            while clients[2].link.deliver() {}
            server.runLoop()
            if let last = facts.started.last { repeatMutation(last) }
            scheduler.whileThreadsRest { turn(10) }
            try check()
        }
        // As a file system that copies what is written over: no write has room, in zeros neither.
        disk.setFault { $0.name == "pwrite" ? .error(SimulatedDisk.noSpace) : nil }
        turn(Int.random(in: 10...40, using: &random))
        healDisk()
        if Bool.random(using: &random) { try lull() }
    }

    /// Much comes while nothing is delivered.
    func loadLoop() throws {
        guard let server else { return }
        note("the loop is busy")
        server.isLoopBusy = true
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            // What is new to the server is prepared, and handed over on the loop.
            burst(isKnown: Bool.random(using: &random))
            while clients[2].link.deliver() {}
            for _ in 0..<5 {
                turn(20)
                try check()
            }
            scheduler.settle()
            try check()
        }
        server.isLoopBusy = false
    }

    /// Nothing hinders anybody for half a minute at most: whoever has asked is answered.
    func lull() throws {
        guard server != nil else { return }
        note("a lull")
        healDisk()
        for _ in 0..<30 {
            upstream.answerAll()
            settle()
            scheduler.pass(milliseconds: 1_000)
            settle()
            try check()
            if isFrozen || facts.repeatCount == facts.repeatAnswerCount { return }
        }
        let unanswered = facts.repeatCount - facts.repeatAnswerCount
        throw Violation("\(unanswered) who sent a mutation again have no answer")
    }

    /// Mutations, and pauses shorter than the interval of syncs, for several intervals; then the power goes.
    func steadyTraffic() throws {
        guard durability == .batch, server != nil else { return }
        for _ in 0..<Int.random(in: 6...14, using: &random) {
            clients[0].mutate(&random)
            settle()
            upstream.answerAll()
            settle()
            pass(Int.random(in: 20...80, using: &random))
            try check()
            if isFrozen { return }
        }
        settle()
        try crash(losesPower: true)
    }

    /// So much comes, for several intervals, that something waits for the disk all the time; then the power goes.
    func flood() throws {
        guard durability == .batch, server != nil else { return }
        note("a flood")
        let client = clients[2]
        healDisk()
        client.link.socket?.wire.isSlow = false
        settle()
        if client.link.socket == nil { pass(1_000) }
        for _ in 0..<Int.random(in: 30...60, using: &random) {
            client.mutate(&random)
            while client.link.deliver() {}
            // What the server has not seen before is prepared, and then handed over on the loop.
            for _ in 0..<2 {
                scheduler.whileThreadsRest { while scheduler.turn() {} }
                server?.runLoop()
            }
            scheduler.whileThreadsRest { while scheduler.turn() {} }
            scheduler.passBusily()
            server?.runLoop()
            while client.link.receive() {}
            try check()
            if isFrozen { return }
        }
        try crash(losesPower: true)
    }
}
