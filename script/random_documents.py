"""Random documents for script/random-documents: valid GraphQL with Relay's directives, against any schema.

A document is an operation with fragments of its own. It has two texts: what Relay's compiler is given, and the same for
any server, with fragments written out and their arguments put in.
"""

import dataclasses
import random
import typing

import graphql as g

# Words of Swift and of generated code, to be the names of fields.
ALIASES = ["class", "default", "in", "func", "value", "String", "Int", "Optional", "Result", "record", "public",
           "async", "await", "some", "any", "nil", "true", "Data", "Variables", "typename", "hashValue",
           "snake_case", "_underscored", "UPPER", "fragmentPointer_", "rawValue", "Element", "Error"]
DEPTH = 5


@dataclasses.dataclass
class Value:
    """A literal, or the name of an operation's variable or of a fragment's argument."""
    text: str
    name: typing.Optional[str] = None

    def written(self, arguments):
        """None where nothing is given."""
        if self.name is None:
            return self.text
        if arguments is None or self.name not in arguments:
            return "$" + self.name
        given = arguments[self.name]
        return given and given.written(None)


@dataclasses.dataclass
class Field:
    key: str
    name: str
    type: object
    arguments: dict
    directives: list
    selection: typing.Optional[list] = None
    connection: typing.Optional[str] = None


@dataclasses.dataclass
class Inline:
    """An inline fragment; without a condition, `on` is None."""
    on: object
    directives: list
    selection: list
    alias: typing.Optional[str] = None


@dataclasses.dataclass
class Spread:
    fragment: "Fragment"
    arguments: dict
    directives: list
    alias: typing.Optional[str] = None


@dataclasses.dataclass
class Fragment:
    name: str
    on: object
    # By name: the type and the default, a Value or None.
    parameters: dict
    is_masked: bool
    refetch: typing.Optional[str] = None
    selection: typing.Optional[list] = None


@dataclasses.dataclass
class Variable:
    type: object
    default: typing.Optional[Value]
    # Whether it is given, and what with: JSON.
    is_given: bool
    value: object = None


def is_left_out(entry):
    """Whether a literal decides that it is never there: then the compiler leaves it out."""
    return any(value.name is None and value.text == ("true" if name == "skip" else "false") for name, value in entry.directives)


# What the compiler adds to a connection. It is read even where a condition leaves the document's own out.
ADDED = {"edges": {"cursor": {}, "node": {"__typename": {}}}, "pageInfo": {"hasNextPage": {}}}


def added(selection, names):
    """What is read of `names` because a selection has it, too."""
    found = []
    for entry in selection:
        if is_left_out(entry):
            continue
        if isinstance(entry, Inline) and entry.on is None:
            found += added(entry.selection, names)
        elif isinstance(entry, Field) and entry.key in names:
            nothing = Field("__typename", "__typename", None, {}, [("include", Value("false"))])
            inner = entry.selection and (added(entry.selection, names[entry.key]) or [nothing])
            found.append(Field(entry.key, entry.key, None, {}, [], inner))
    return found


class Document:
    def __init__(self, schema, ids, seed, number):
        self.random = random.Random(f"{seed}.{number}")
        self.schema, self.ids, self.number = schema, ids, number
        self.variables, self.fragments, self.keys = {}, [], 0
        self.aliases = self.random.sample(ALIASES, len(ALIASES))
        # The arguments of the fragment that is being made; None in one that may have none.
        self.parameters = None
        self.may_use_variables = True
        # Where a fragment is refetched, variables of its query say which page of its connection; these have none.
        self.may_have_connections = True
        self.is_mutation = self.chance(0.1)
        self.kind = "mutation" if self.is_mutation else "query"
        self.name = f"D{number}{self.kind.capitalize()}"
        root = schema.mutation_type if self.is_mutation else schema.query_type
        self.root = root
        self.is_raw = self.is_mutation and self.chance(0.5)
        self.selection = self.some_selection(root, DEPTH)

    def chance(self, probability):
        return self.random.random() < probability

    # Values

    def literal(self, type, hint):
        """A literal and its JSON."""
        if g.is_non_null_type(type):
            return self.literal(type.of_type, hint)
        if g.is_list_type(type):
            items = [self.literal(type.of_type, hint) for _ in range(self.random.randrange(4))]
            return "[" + ", ".join(text for text, _ in items) + "]", [value for _, value in items]
        if g.is_enum_type(type):
            name = self.random.choice(list(type.values))
            return name, name
        if g.is_input_object_type(type):
            fields = {name: self.literal(field.type, name) for name, field in type.fields.items()
                      if g.is_required_input_field(field) or self.chance(0.4)}
            text = "{" + ", ".join(f"{name}: {text}" for name, (text, _) in fields.items()) + "}"
            return text, {name: value for name, (_, value) in fields.items()}
        if type.name == "Int":
            number = self.random.randrange(5)
            return str(number), number
        if type.name == "Float":
            return "1.5", 1.5
        if type.name == "Boolean":
            value = self.chance(0.5)
            return str(value).lower(), value
        word = self.random.choice(self.ids.get(hint.removesuffix("s").lower(), self.ids["id"]))
        return f'"{word}"', word

    def argument(self, type, hint, in_fragment=None):
        """A value for a place of this type; of a variable, which is made, or of an argument of the fragment."""
        text, value = self.literal(type, hint)
        where = self.random.random()
        if where < 0.35 and self.may_use_variables:
            return self.variable(type, text, value)
        if where < 0.55 and self.parameters is not None and not g.is_input_object_type(type):
            name = f"a{len(self.parameters)}"
            has_default = not g.is_non_null_type(type) and self.chance(0.5)
            self.parameters[name] = (type, Value(text) if has_default else None, hint)
            return Value("", name)
        return Value(text)

    def variable(self, type, text, value):
        name = f"v{len(self.variables)}"
        is_nullable = not g.is_non_null_type(type)
        default = Value(text) if self.chance(0.3) and not g.is_input_object_type(type) else None
        given = self.random.random()
        if is_nullable and given < 0.25 or default and given < 0.4:
            variable = Variable(type, default, False)
        elif is_nullable and not default and given < 0.35:
            variable = Variable(type, default, True, None)
        else:
            variable = Variable(type, default, True, value)
        self.variables[name] = variable
        return Value("", name)

    def conditions(self, probability):
        if not self.chance(probability):
            return []
        boolean = g.GraphQLNonNull(g.GraphQLBoolean)
        return [(self.random.choice(["include", "skip"]), self.argument(boolean, "if"))]

    # Selections

    def some_selection(self, type, depth, count=None):
        selection = []
        fields = list(type.fields.items()) if not g.is_union_type(type) else []
        if depth <= 0:
            fields = [(name, field) for name, field in fields if g.is_leaf_type(g.get_named_type(field.type))]
        for name, field in self.random.sample(fields, min(len(fields), count or self.random.randint(1, 4))):
            selection.append(self.field(name, field, depth))
        if g.is_abstract_type(type):
            for object in self.overlapping(type):
                if depth > 0 and self.chance(0.4):
                    selection.append(self.inline(object, depth - 1))
        elif depth > 0 and not self.is_root(type) and self.chance(0.2):
            selection.append(self.inline(self.random.choice([None, type, *type.interfaces]), depth - 1, type))
        if depth > 0 and self.chance(0.35) and not self.is_mutation_root(type):
            selection.append(self.spread(type, depth - 1))
        if self.chance(0.15) or not selection:
            selection.append(Field("__typename", "__typename", g.GraphQLNonNull(g.GraphQLString), {}, []))
        return selection

    def is_root(self, type):
        return type in (self.schema.query_type, self.schema.mutation_type)

    def is_mutation_root(self, type):
        return type is self.schema.mutation_type

    def overlapping(self, type):
        """Types that some of the records of a place have, and not that of the place itself."""
        possible = set(self.schema.get_possible_types(type))
        return [other for name, other in sorted(self.schema.type_map.items())
                if g.is_object_type(other) and other in possible or g.is_interface_type(other) and other is not type
                and possible & set(self.schema.get_possible_types(other))]

    def new_key(self, name):
        self.keys += 1
        return f"{name}{self.keys}"

    def field(self, name, definition, depth):
        named = g.get_named_type(definition.type)
        is_connection = (self.may_have_connections and named.name.endswith("Connection") and depth > 1
                         and self.chance(0.3))
        arguments = {}
        # One end only, and no cursors: an answer without errors is what is compared.
        left_out = {"before", "after", "first" if is_connection or self.chance(0.5) else "last"}
        if is_connection:
            left_out.add("last")
            arguments["first"] = Value(str(self.random.randint(1, 3)))
        for argument in [name for name in definition.args if name not in left_out]:
            type = definition.args[argument].type
            if g.is_required_argument(definition.args[argument]) or self.chance(0.4):
                hint = name if argument in ("key", "login", "input") else argument
                arguments[argument] = self.argument(type, argument if argument in self.ids else hint)
        if is_connection:
            return self.connection(name, definition, arguments, depth)
        directives = self.conditions(0.12)
        # One name stands for one field with the same arguments, wherever it is selected.
        key = self.new_key(name) if arguments or self.is_mutation and g.is_input_object_type(named) else name
        if self.aliases and self.chance(0.1):
            key = self.aliases.pop()
        if g.is_leaf_type(named):
            return Field(key, name, definition.type, arguments, directives)
        return Field(key, name, definition.type, arguments, directives, self.some_selection(named, depth - 1))

    def connection(self, name, definition, arguments, depth):
        """Conditions may leave out all of it, its edges, their nodes and the page."""
        key = self.new_key(name)
        fields = g.get_named_type(definition.type).fields
        edges_type, page_type = fields["edges"].type, fields["pageInfo"].type
        node_type = g.get_named_type(edges_type).fields["node"].type
        typename = Field("__typename", "__typename", g.GraphQLNonNull(g.GraphQLString), {}, [])
        node = Field("node", "node", node_type, {}, self.conditions(0.25),
                     [typename, *self.some_selection(g.get_named_type(node_type), depth - 2)])
        cursor = [Field("cursor", "cursor", g.GraphQLNonNull(g.GraphQLString), {}, [])] if self.chance(0.2) else []
        edges = Field("edges", "edges", edges_type, {}, self.conditions(0.25), [*cursor, node])
        selection = [edges]
        if self.chance(0.3):
            flag = g.GraphQLNonNull(g.GraphQLBoolean)
            inner = [Field("hasNextPage", "hasNextPage", flag, {}, self.conditions(0.2))]
            selection.append(Field("pageInfo", "pageInfo", page_type, {}, self.conditions(0.4), inner))
        if self.chance(0.2):
            selection = [Inline(None, self.conditions(0.9), selection)]
        return Field(key, name, definition.type, arguments, self.conditions(0.15), selection, f"D{self.number}_{key}")

    def inline(self, on, depth, place=None):
        alias = None
        if on is not None and on is not place and self.chance(0.2):
            self.keys += 1
            alias = f"alias{self.keys}"
        directives = self.conditions(0.9 if on is None else 0.15) if alias is None else []
        return Inline(on, directives, self.some_selection(on or place, depth, 2), alias)

    def spread(self, place, depth):
        on, alias = place, None
        if g.is_abstract_type(place) and self.chance(0.3):
            on = self.random.choice(self.overlapping(place))
            self.keys += 1
            alias = f"alias{self.keys}"
        elif g.is_object_type(place) and self.chance(0.3):
            on = self.random.choice([place, *place.interfaces])
        is_masked = alias is not None or g.is_abstract_type(on) or self.chance(0.75)
        directives = self.conditions(0.15) if alias is None else []
        outer = self.parameters, self.may_use_variables, self.may_have_connections
        may_refetch = is_masked and (any(i.name == "Node" for i in getattr(on, "interfaces", [])) or self.is_query(on))
        refetches = may_refetch and self.chance(0.2)
        self.parameters = {} if is_masked and self.chance(0.7) else None
        fragment = Fragment(f"D{self.number}_f{len(self.fragments)}", on, {}, is_masked)
        self.fragments.append(fragment)
        if refetches:
            fragment.refetch = f"D{self.number}F{len(self.fragments)}RefetchQuery"
        if is_masked:
            self.may_have_connections = not refetches
        fragment.selection = self.some_selection(on, depth)
        fragment.parameters = self.parameters or {}
        self.parameters, self.may_use_variables, self.may_have_connections = outer
        arguments = {}
        for name, (type, default, hint) in fragment.parameters.items():
            if g.is_non_null_type(type) and default is None or self.chance(0.6):
                arguments[name] = self.argument(type, hint)
        return Spread(fragment, arguments, directives, alias)

    def is_query(self, type):
        return type is self.schema.query_type

    # Texts

    def source(self):
        """What Relay's compiler reads."""
        texts = [self.head(self.kind) + self.block(self.selection, "", None, False)]
        for fragment in self.fragments:
            marks = ""
            if fragment.parameters:
                marks += " @argumentDefinitions(" + ", ".join(
                    f'{name}: {{type: "{type}"' + (f", defaultValue: {default.text}" if default else "") + "}"
                    for name, (type, default, _) in fragment.parameters.items()) + ")"
            if fragment.refetch:
                marks += f' @refetchable(queryName: "{fragment.refetch}")'
            texts.append(f"fragment {fragment.name} on {fragment.on}{marks}"
                         + self.block(fragment.selection, "", None, False))
        return "\n".join(texts) + "\n"

    def request(self):
        """What a server reads."""
        return self.head(self.kind, False) + self.block(self.selection, "", {}, True)

    def head(self, kind, for_relay=True):
        declared = ", ".join(
            f"${name}: {variable.type}" + (f" = {variable.default.text}" if variable.default else "")
            for name, variable in self.variables.items())
        raw = " @raw_response_type" if self.is_raw and for_relay else ""
        return f"{kind} {self.name}" + (f"({declared})" if declared else "") + raw

    def json_variables(self):
        return {name: variable.value for name, variable in self.variables.items() if variable.is_given}

    def block(self, selection, indentation, arguments, for_server):
        inner = indentation + "  "
        lines = [inner + self.entry(entry, inner, arguments, for_server) for entry in selection]
        return " {\n" + "\n".join(lines) + "\n" + indentation + "}"

    def entry(self, entry, indentation, arguments, for_server):
        # What a fragment is given may be left out; a condition is given always.
        marks = "".join(f" @{name}(if: {value.written(arguments)})" for name, value in entry.directives)
        if not isinstance(entry, Field) and entry.alias and not for_server:
            marks += f' @alias(as: "{entry.alias}")'
        if isinstance(entry, Spread):
            if for_server:
                given = {name: self.given(name, default, entry, arguments)
                         for name, (_, default, _) in entry.fragment.parameters.items()}
                return f"... on {entry.fragment.on}{marks}" + self.block(entry.fragment.selection, indentation, given, True)
            listed = ", ".join(f"{name}: {value.written(None)}" for name, value in entry.arguments.items())
            if not entry.fragment.is_masked:
                marks += " @relay(mask: false)"
            return f"...{entry.fragment.name}" + (f" @arguments({listed})" if listed else "") + marks
        if isinstance(entry, Inline):
            return "..." + (f" on {entry.on}" if entry.on else "") + marks + self.block(entry.selection, indentation, arguments, for_server)
        written = {name: value.written(arguments) for name, value in entry.arguments.items()}
        listed = ", ".join(f"{name}: {text}" for name, text in written.items() if text is not None)
        if entry.connection and not for_server:
            marks += f' @connection(key: "{entry.connection}")'
        text = (f"{entry.key}: " if entry.key != entry.name else "") + entry.name + (f"({listed})" if listed else "") + marks
        selection = entry.selection
        if entry.connection and for_server:
            selection = [*selection, *added(selection, ADDED)]
        return text + (self.block(selection, indentation, arguments, for_server) if selection else "")

    def given(self, name, default, spread, arguments):
        """What an argument of a fragment stands for: a Value without arguments of fragments, or None."""
        if name not in spread.arguments:
            return default
        text = spread.arguments[name].written(arguments)
        return None if text is None else Value(text)
