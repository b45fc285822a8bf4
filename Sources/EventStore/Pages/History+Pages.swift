import RelayJSON
@_spi(Rooms) import RelayRecords

extension History {
    /// All about one event.
    package func page(
        about point: HistoryPoint, _ limits: HistoryPage.Limits, now: Int64
    ) throws(EventStoreError) -> HistoryPage {
        var page = HistoryPage(limits)
        let event = try EventDescription(sequence(of: point, now: now), in: self)
        switch limits.form {
        case .json: page.add(event.json.text)
        case .text: for line in event.lines { page.add(line) }
        }
        return page
    }

    /// The records of a state, in creation order.
    /// - Parameter skip: leaves out as many.
    package func statePage(
        at sequence: UInt64, skip: Int, _ limits: HistoryPage.Limits
    ) throws(EventStoreError) -> HistoryPage {
        var page = HistoryPage(limits)
        let state = try kept(at: sequence)
        var place = skip
        for line in state.recordLines(from: skip) {
            if page.isFull {
                page.next = [.at: "\(sequence)", .skip: "\(place)"]
                break
            }
            page.add(line)
            place += 1
        }
        return page
    }

    /// A state that the next question will probably ask for as well.
    func kept(at sequence: UInt64) throws(EventStoreError) -> Snapshot {
        let state = try snapshot(at: sequence)
        source.kept?.keep(state)
        return state
    }

    /// One record of a state.
    /// - Throws: ``HistoryPageError`` too.
    package func page(
        of target: BlameTarget, at sequence: UInt64, _ limits: HistoryPage.Limits
    ) throws -> HistoryPage {
        var page = HistoryPage(limits)
        guard let line = try recordLine([target], at: sequence) else {
            let field = target.field.map { ", or it has no field \($0)" } ?? ""
            throw HistoryPageError.nothing(
                "There is no record \(target.record) at event \(sequence)\(field).")
        }
        page.add(line)
        return page
    }

    /// What is different between the states after two events.
    /// - Parameter skip: leaves out as many lines.
    package func differencePage(
        from before: UInt64, to after: UInt64, record: String?, skip: Int,
        _ limits: HistoryPage.Limits
    ) throws(EventStoreError) -> HistoryPage {
        var page = HistoryPage(limits)
        let differences = try differences(from: before, to: after, record: record)
        page.add(differences, from: skip) { place in
            [.a: "\(before)", .b: "\(after)", .skip: "\(place)"]
        }
        return page
    }

    /// What would be different now if some events had not happened.
    /// - Parameter place: leaves out as many lines.
    package func whatIfPage(
        skipping skipped: Set<UInt64>, from place: Int, _ limits: HistoryPage.Limits
    ) throws(EventStoreError) -> HistoryPage {
        var page = HistoryPage(limits)
        page.add(try whatIf(skipping: skipped), from: place) { [.from: "\($0)"] }
        return page
    }

    // MARK: Who wrote it

    /// The writes of a record or a field, newest first.
    ///
    /// Begins with what has happened since the newest checkpoint, so that the newest writes are found without reading
    /// the whole log.
    /// - Parameters:
    ///   - before: only writes of events before this one; nil for all.
    ///   - skip: leaves out as many of those that there would be.
    package func blamePage(
        _ target: BlameTarget, showsLayers: Bool, before: UInt64?, skip: Int,
        _ limits: HistoryPage.Limits, mayGoOn: () -> Bool = { true }
    ) throws(EventStoreError) -> HistoryPage {
        var page = HistoryPage(limits)
        let lines = BlameLines(target, showsLayers: showsLayers)
        var end = min(before.map { $0 > 0 ? $0 - 1 : 0 } ?? lastReadable, lastReadable)
        var left = skip
        var isBegun = false
        do throws(EventStoreError) {
            while end > 0, !isBegun || mayGoOn() {
                let (entries, start) = try blame(
                    target, through: end, showsLayers: showsLayers, isWhole: isBegun)
                /// How many entries of one event have been passed.
                var passed: (sequence: UInt64, count: Int) = (0, 0)
                for entry in entries {
                    if entry.sequence != passed.sequence { passed = (entry.sequence, 0) }
                    if left > 0 {
                        left -= 1
                    } else if page.isFull {
                        page.next = [
                            .before: "\(entry.sequence + 1)", .skip: "\(passed.count)",
                        ]
                        return page
                    } else {
                        page.add(limits.form == .json ? lines.json(entry).text : lines.line(entry))
                    }
                    passed.count += 1
                }
                end = start
                isBegun = true
            }
        } catch  where error.code == .limitExceeded && isBegun {}
        if end > 0 { page.next = [.before: "\(end + 1)", .skip: "\(left)"] }
        return page
    }
}

extension HistoryPage {
    /// - Parameters:
    ///   - first: leaves out as many.
    ///   - next: where to go on, with the number of those before.
    fileprivate mutating func add(
        _ differences: [FieldDifference], from first: Int, next: (Int) -> [Place: String]
    ) {
        for (place, difference) in differences.enumerated().dropFirst(first) {
            if isFull {
                self.next = next(place)
                return
            }
            add(form == .json ? difference.json.text : difference.line)
        }
    }
}
