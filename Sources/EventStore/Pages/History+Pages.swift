import RelayJSON
@_spi(Rooms) import RelayRecords

extension History {
    /// All about one event; of its changes as many as fit on a page.
    /// - Parameter skip: leaves out the changes of as many records.
    package func page(
        about point: HistoryPoint, skip: Int, _ limits: HistoryPage.Limits, now: Int64,
        mayGoOn: () -> Bool = { true }
    ) throws(EventStoreError) -> HistoryPage {
        var page = HistoryPage(limits)
        let sequence = try sequence(of: point, now: now)
        let description = try EventDescription(
            sequence, in: self, skip: skip, records: limits.lines, bytes: limits.bytes,
            mayGoOn: mayGoOn)
        switch limits.form {
        case .json: page.add(description.json.text)
        case .text:
            for line in skip == 0 ? description.lines : description.furtherLines { page.add(line) }
        }
        if let next = description.next { page.next = [.sequence: "\(sequence)", .skip: "\(next)"] }
        return page
    }

    /// The records of a state, in creation order.
    /// - Parameter skip: leaves out as many.
    package func statePage(
        at sequence: UInt64, skip: Int, _ limits: HistoryPage.Limits
    ) throws(EventStoreError) -> HistoryPage {
        var page = HistoryPage(limits)
        let state = try snapshot(at: sequence)
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
    ///
    /// Ends early when there is no time left.
    /// - Parameters:
    ///   - from: leaves out as many of the records that may be different, in their order.
    ///   - skip: leaves out as many lines after those.
    package func differencePage(
        from before: UInt64, to after: UInt64, record: String?, from place: Int, skip: Int,
        _ limits: HistoryPage.Limits, mayGoOn: () -> Bool = { true }
    ) throws(EventStoreError) -> HistoryPage {
        var page = HistoryPage(limits)
        if let record {
            let differences = try differences(from: before, to: after, record: record)
            page.add(differences, from: skip) { place in
                [.a: "\(before)", .b: "\(after)", .skip: "\(place)"]
            }
            return page
        }
        let difference = try difference(from: before, to: after)
        var left = skip
        for (index, id) in difference.records.enumerated().dropFirst(place) {
            func goOn(skipping lines: Int) -> [HistoryPage.Place: String] {
                [.a: "\(before)", .b: "\(after)", .from: "\(index)", .skip: "\(lines)"]
            }
            if index > place, index.isMultiple(of: 256), !mayGoOn() {
                page.next = goOn(skipping: left)
                break
            }
            let differences = difference.differences(of: id)
            if left >= differences.count {
                left -= differences.count
                continue
            }
            page.add(differences, from: left, next: goOn)
            if page.next != nil { break }
            left = 0
        }
        return page
    }

    /// What would be different after an event if some before it had not happened.
    /// - Parameter place: leaves out as many lines.
    package func whatIfPage(
        skipping skipped: Set<UInt64>, through end: UInt64, from place: Int,
        _ limits: HistoryPage.Limits
    ) throws(EventStoreError) -> HistoryPage {
        var page = HistoryPage(limits)
        let differences = try beginning(through: end).whatIf(skipping: skipped)
        page.add(differences, from: place) { [.at: "\(end)", .from: "\($0)"] }
        return page
    }

    // MARK: Who wrote it

    private static let blamePieceLength: UInt64 = 10_000

    /// The writes of a record or a field, newest first.
    ///
    /// Begins with what has happened since the newest checkpoint, so that the newest writes are found without reading
    /// the whole log. Ends before the first checkpoint behind damage: of writes between the two nobody knows what was
    /// there before, and the page that would have to begin with them is an error.
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
        /// Pieces grow: most questions are answered by the newest writes.
        var length: UInt64 = 1
        do throws(EventStoreError) {
            while end > 0, !isBegun || mayGoOn() {
                let (entries, start, isShort) = try newest(
                    target, through: end, atLeast: length, showsLayers: showsLayers,
                    keeping: NewestEntries.Limit(
                        wanted: limits.lines - page.lineCount, after: left, bytes: limits.bytes))
                // Behind damage they grow from the length that could be read. No piece is longer than the log.
                let least = isShort ? end - start : length
                length =
                    least > lastReadable / 2
                    ? lastReadable : max(least * 2, isShort ? 2 : Self.blamePieceLength)
                /// How many entries of one event have been passed.
                var passed: (sequence: UInt64, count: Int) = (0, 0)
                for entry in entries.newestFirst {
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
                if entries.isCut {
                    page.next = [
                        .before: "\(passed.sequence + 1)", .skip: "\(passed.count + left)",
                    ]
                    return page
                }
                end = start
                isBegun = true
            }
        } catch  where (error.code == .limitExceeded || error.isDamage) && isBegun {}
        if end > 0 { page.next = [.before: "\(end + 1)", .skip: "\(left)"] }
        return page
    }
}

extension History {
    /// The newest part of a blame. If damage is in it, a shorter one may begin behind that.
    private func newest(
        _ target: BlameTarget, through last: UInt64, atLeast count: UInt64, showsLayers: Bool,
        keeping limit: NewestEntries.Limit
    ) throws(EventStoreError) -> (entries: NewestEntries, start: UInt64, isShort: Bool) {
        func part(
            _ count: UInt64
        ) throws(EventStoreError) -> (entries: NewestEntries, start: UInt64) {
            let part = try blame(
                target, through: last, atLeast: count, showsLayers: showsLayers, keeping: limit)
            // A state behind damage is no way to what came before.
            guard part.start < last else { throw passedOver(last...last) }
            return part
        }
        do throws(EventStoreError) {
            let (entries, start) = try part(count)
            return (entries, start, false)
        } catch  where error.isDamage && count > 1 {
            let (entries, start) = try part(1)
            return (entries, start, true)
        }
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
