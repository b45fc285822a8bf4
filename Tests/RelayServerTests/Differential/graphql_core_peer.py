"""Answers documents with graphql-core, one JSON object a line, for DifferentialTests.

First line in: {"schema": SDL, "seed": [records]}; then {"document": TEXT} each. Out, a line each:
{"syntax": ERROR}, {"crashed": TEXT} or {"printed": TEXT, "errors": [ERROR…], "response": {…}}, ERROR being message and
locations; "response" only for a valid query. The resolvers do what the schema's directives say.
"""

import base64
import json
import sys

from graphql import build_schema, execute, parse, print_ast, validate
from graphql.error import GraphQLError


def error(e):
    return {
        "message": e.message,
        "locations": [location(e.source.body, p) for p in e.positions or []],
    }


def location(text, position):
    """As the specification counts: graphql-core takes the start of a line for the end of the one before."""
    return {
        "line": text.count("\n", 0, position) + 1,
        "column": position - text.rfind("\n", 0, position),
    }


class Records:
    def __init__(self, records):
        self.by_id = {r["id"]: r for r in records}
        for place, record in enumerate(records):
            record["creation"] = place

    def find(self, schema, type_names, key):
        record = self.by_id.get(str(key))
        if record and record["type"] in type_names:
            return record
        for name in type_names:
            for field in schema.type_map[name].ast_node.fields:
                if directive(field, "unique"):
                    for record in self.by_id.values():
                        value = record["fields"].get(field.name.value)
                        if record["type"] == name and value == str(key):
                            return record
        return None


def directive(node, name):
    for d in node.directives:
        if d.name.value == name:
            return {a.name.value: constant(a.value) for a in d.arguments} or True
    return None


def constant(value):
    if value.kind == "object_value":
        return {f.name.value: constant(f.value) for f in value.fields}
    if value.kind == "list_value":
        return [constant(v) for v in value.values]
    if value.kind == "int_value":
        return int(value.value)
    return value.value


def named(type_):
    while hasattr(type_, "of_type"):
        type_ = type_.of_type
    return type_


def cursor(position):
    return base64.urlsafe_b64encode(f"p{position}".encode()).decode().rstrip("=")


def position(args, name):
    """Where the cursor in an argument points; None without one."""
    text = args.get(name)
    if text is None:
        return None
    try:
        padded = text + "=" * (-len(text) % 4)
        return int(base64.urlsafe_b64decode(padded)[1:])
    except ValueError:
        message = f'Argument "{name}" is not a cursor of this connection: "{text}".'
        raise GraphQLError(message, extensions={"code": "BAD_USER_INPUT"})


def page(links, args, matches):
    first, last = args.get("first"), args.get("last")
    after, before = position(args, "after"), position(args, "before")
    all_ = [(p, r) for p, r in links if matches(r)]
    edges = [
        (p, r)
        for p, r in all_
        if (after is None or p > after) and (before is None or p < before)
    ]
    has_next = before is not None and any(p >= before for p, _ in all_)
    has_previous = after is not None and any(p <= after for p, _ in all_)
    if first is not None and len(edges) > first:
        edges, has_next = edges[:first], True
    if last is not None and len(edges) > last:
        edges, has_previous = edges[len(edges) - last :], True
    cursors = [cursor(p) for p, _ in edges]
    return {
        "edges": [{"node": r, "cursor": c} for (_, r), c in zip(edges, cursors)],
        "pageInfo": {
            "hasNextPage": has_next,
            "hasPreviousPage": has_previous,
            "startCursor": cursors[0] if cursors else None,
            "endCursor": cursors[-1] if cursors else None,
        },
    }


PAGE = {"first", "last", "after", "before"}


def resolver(records):
    def matches(args):
        wanted = {k: v for k, v in args.items() if k not in PAGE and v is not None}
        return lambda r: all(r["fields"].get(k) == v for k, v in wanted.items())

    def links(value):
        refs = (value or {}).get("refs", [])
        return [(p, records.by_id[i]) for p, i in enumerate(refs) if i in records.by_id]

    def resolve(source, info, **args):
        field = info.parent_type.ast_node and next(
            f for f in info.parent_type.ast_node.fields if f.name.value == info.field_name
        )
        target = named(info.return_type)
        is_connection = "edges" in getattr(target, "fields", {})
        listed = directive(field, "list")
        if listed:
            found = [
                (r["creation"], r)
                for r in records.by_id.values()
                if r["type"] == listed["type"]
            ]
            return page(found, args, matches(args))
        if directive(field, "lookup"):
            (key,) = args.values()
            types = [t.name for t in info.schema.get_possible_types(target)] \
                if hasattr(target, "resolve_type") else [target.name]
            return None if key is None else records.find(info.schema, types, key)
        if source is None and info.field_name == "node":
            return records.by_id.get(args["id"])
        if source is None and info.field_name == "nodes":
            return [records.by_id.get(i) for i in args["ids"]]
        if "fields" not in source:
            return source.get(info.field_name)
        if info.field_name == "id":
            return source["id"]
        counted = directive(field, "count")
        if counted:
            all_ = links(source["fields"].get(counted["field"]))
            return sum(1 for _, r in all_ if matches(counted.get("where") or {})(r))
        value = source["fields"].get(info.field_name)
        if is_connection:
            return page(links(value), args, matches(args))
        if isinstance(value, dict) and "refs" in value or hasattr(target, "fields"):
            if isinstance(value, dict) and "ref" in value:
                return records.by_id.get(value["ref"])
            return [r for _, r in links(value)] if "[" in str(info.return_type) else None
        return value["value"] if isinstance(value, dict) else value

    return resolve


def main():
    setup = json.loads(sys.stdin.readline())
    schema = build_schema(setup["schema"])
    records = Records(setup["seed"])
    for type_ in schema.type_map.values():
        if hasattr(type_, "resolve_type"):
            type_.resolve_type = lambda value, *_: value["type"]
    resolve = resolver(records)
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        text = json.loads(line)["document"]
        try:
            document = parse(text)
        except GraphQLError as e:
            print(json.dumps({"syntax": error(e)}), flush=True)
            continue
        answer = {"printed": print_ast(document)}
        try:
            errors = validate(schema, document, max_errors=100000)
        except Exception as e:  # graphql-core trips over some documents; those are nobody's measure
            print(json.dumps({"crashed": repr(e)}), flush=True)
            continue
        answer["errors"] = [error(e) for e in errors]
        operations = [d for d in document.definitions if hasattr(d, "operation")]
        if not errors and len(operations) == 1 and operations[0].operation.value == "query":
            result = execute(schema, document, field_resolver=resolve)
            answer["response"] = {"data": result.data}
            if result.errors:
                answer["response"]["errors"] = [
                    {**error(e), "path": e.path, "extensions": e.extensions}
                    for e in result.errors
                ]
        print(json.dumps(answer), flush=True)


main()
