/// The tables and functions of a journal (docs/cluster.md), in the statements that make them.
///
/// 1. `frames` holds the frames of one history: the first begins with `history.begins`, every other right after the
///    last event of the one before. No row of it is ever changed or removed.
/// 2. A frame goes in only by `append`, and only of the writer whose term and connection are those of `term`, right
///    behind the last frame, and with its chain hash before it.
/// 3. `append` holds `term` so that raising the term, or changing the connection, waits for it and everything behind
///    waits for that. Whoever has changed either knows that no append from before will still go in.
struct JournalTables {
    let schema: String

    /// In order, for one transaction.
    var statements: [String] {
        [
            "CREATE SCHEMA IF NOT EXISTS \(schema)", history, frames, checkpoints, term,
            "INSERT INTO \(schema).term (term, connection) VALUES (0, 0)", lease, nodes, append,
            raiseTerm, takeConnection,
        ]
    }

    private var history: String {
        """
        CREATE TABLE \(schema).history (
            one boolean PRIMARY KEY DEFAULT true CHECK (one),
            format bigint NOT NULL,
            store text NOT NULL CHECK (store ~ '^[0-9a-f]{32}$'),
            epoch bigint NOT NULL,
            begins bigint NOT NULL CHECK (begins > 0),
            begins_epoch bigint NOT NULL,
            begins_chain bytea CHECK (octet_length(begins_chain) = 32),
            begins_checkpoint bigint,
            begins_state_hash bytea,
            cursor_key bytea NOT NULL CHECK (octet_length(cursor_key) = 16),
            cluster_key bytea NOT NULL CHECK (octet_length(cluster_key) = 32),
            complete boolean NOT NULL,
            created timestamptz NOT NULL DEFAULT now()
        )
        """
    }

    private var frames: String {
        """
        CREATE TABLE \(schema).frames (
            seq bigint PRIMARY KEY CHECK (seq > 0),
            last bigint NOT NULL UNIQUE CHECK (last >= seq),
            term bigint NOT NULL,
            chain bytea NOT NULL CHECK (octet_length(chain) = 32),
            bytes bytea NOT NULL
        )
        """
    }

    private var checkpoints: String {
        """
        CREATE TABLE \(schema).checkpoints (
            seq bigint PRIMARY KEY,
            epoch bigint NOT NULL,
            fold_version bigint NOT NULL,
            state_hash bytea NOT NULL,
            payload bytea NOT NULL
        )
        """
    }

    private var term: String {
        """
        CREATE TABLE \(schema).term (
            one boolean PRIMARY KEY DEFAULT true CHECK (one),
            term bigint NOT NULL,
            connection bigint NOT NULL,
            writer text,
            raised timestamptz NOT NULL DEFAULT now()
        )
        """
    }

    private var lease: String {
        """
        CREATE TABLE \(schema).lease (
            one boolean PRIMARY KEY DEFAULT true CHECK (one),
            term bigint NOT NULL,
            node text NOT NULL,
            address text NOT NULL,
            renewed timestamptz NOT NULL,
            expires timestamptz NOT NULL
        )
        """
    }

    private var nodes: String {
        """
        CREATE TABLE \(schema).nodes (
            node text PRIMARY KEY,
            address text NOT NULL,
            role text NOT NULL,
            term bigint NOT NULL,
            sequence bigint NOT NULL,
            state_hash bytea,
            hash_sequence bigint,
            instance bigint NOT NULL,
            seen timestamptz NOT NULL
        )
        """
    }

    /// Appends frames if everything is as their writer thinks; says what is not, otherwise.
    ///
    /// Each statement of a volatile function sees what was committed before it began: the head is read after the lock
    /// was taken. Two writers of one connection, which there are only by mistake, meet at the primary key.
    private var append: String {
        """
        CREATE FUNCTION \(schema).append(
            my_term bigint, my_connection bigint, previous bigint, previous_chain bytea,
            firsts bigint[], lasts bigint[], chains bytea[], contents bytea[],
            OUT outcome text, OUT at_term bigint, OUT at_last bigint
        ) LANGUAGE plpgsql VOLATILE AS $body$
        DECLARE
            at_connection bigint;
            at_chain bytea;
        BEGIN
            IF current_setting('fsync') <> 'on' OR current_setting('full_page_writes') <> 'on' THEN
                outcome := 'unsafe';
                RETURN;
            END IF;
            SELECT t.term, t.connection INTO at_term, at_connection
                FROM \(schema).term AS t FOR SHARE;
            IF at_term IS DISTINCT FROM my_term OR at_connection IS DISTINCT FROM my_connection THEN
                outcome := 'term';
                RETURN;
            END IF;
            SELECT f.last, f.chain INTO at_last, at_chain
                FROM \(schema).frames AS f ORDER BY f.seq DESC LIMIT 1;
            IF NOT FOUND THEN
                SELECT h.begins - 1, h.begins_chain INTO at_last, at_chain
                    FROM \(schema).history AS h;
            END IF;
            outcome := CASE
                WHEN at_last > previous THEN 'overtaken'
                WHEN at_last IS NULL OR at_last < previous THEN 'missing'
                WHEN at_chain <> previous_chain THEN 'chain'
                ELSE 'appended'
            END;
            IF outcome <> 'appended' THEN
                RETURN;
            END IF;
            INSERT INTO \(schema).frames (seq, last, term, chain, bytes)
                SELECT f.seq, f.last, my_term, f.chain, f.bytes
                FROM unnest(firsts, lasts, chains, contents) AS f(seq, last, chain, bytes);
            at_last := lasts[array_upper(lasts, 1)];
            PERFORM pg_notify('\(schema)', at_last::text);
        END
        $body$
        """
    }

    /// Makes a node the writer, of the term after the one that it has seen, unless another term is there by now or, if
    /// that is respected, another node's lease has not run out.
    ///
    /// A lease that was renewed later than now does not count: the server's clock has been set back since then, or is
    /// another server's, and how long it was to last cannot be said.
    ///
    /// The lock of the table is one that waits in line: a writer that appends without a pause does not keep it away.
    private var raiseTerm: String {
        """
        CREATE FUNCTION \(schema).raise_term(
            seen bigint, by_node text, by_address text, lease_milliseconds bigint,
            respects_lease boolean,
            OUT raised boolean, OUT at_term bigint
        ) LANGUAGE plpgsql VOLATILE AS $body$
        BEGIN
            LOCK TABLE \(schema).term IN EXCLUSIVE MODE;
            SELECT t.term INTO at_term FROM \(schema).term AS t;
            raised := at_term = seen AND NOT (respects_lease AND EXISTS (
                SELECT FROM \(schema).lease AS l
                WHERE l.term = seen AND l.node <> by_node
                    AND l.renewed <= clock_timestamp() AND l.expires > clock_timestamp()));
            IF NOT raised THEN
                RETURN;
            END IF;
            at_term := at_term + 1;
            UPDATE \(schema).term
                SET term = at_term, connection = 0, writer = by_node, raised = clock_timestamp();
            INSERT INTO \(schema).lease AS l (term, node, address, renewed, expires)
                VALUES (at_term, by_node, by_address, clock_timestamp(),
                    clock_timestamp() + lease_milliseconds * interval '1 millisecond')
                ON CONFLICT (one) DO UPDATE SET term = excluded.term, node = excluded.node,
                    address = excluded.address, renewed = excluded.renewed,
                    expires = excluded.expires;
            PERFORM pg_notify('\(schema)', 'term ' || at_term);
        END
        $body$
        """
    }

    /// Makes a new connection that of a term's writer: appends of its earlier ones are over, or will be refused.
    private var takeConnection: String {
        """
        CREATE FUNCTION \(schema).take_connection(
            my_term bigint, my_connection bigint,
            OUT taken boolean, OUT at_term bigint
        ) LANGUAGE plpgsql VOLATILE AS $body$
        BEGIN
            LOCK TABLE \(schema).term IN EXCLUSIVE MODE;
            UPDATE \(schema).term SET connection = my_connection
                WHERE term = my_term AND connection < my_connection;
            taken := FOUND;
            SELECT t.term INTO at_term FROM \(schema).term AS t;
        END
        $body$
        """
    }
}
