"""The small expressions of `paper.toml`: arithmetic over numbers and columns, and calls of named functions.

The syntax is that of Python, read by `ast` and evaluated here, so nothing is reachable but what a scope and
its functions offer. Columns are arrays; arithmetic and comparisons work element by element. Text between
braces in a string, as in "{x - 24} cells", is such an expression too.
"""

import ast
import math
import operator
import re
from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from celltrain.errors import InputError, unknown

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Columns", "Expression", "Functions", "NoValue", "Scope", "fill"]

LONGEST = 2000
"""Characters of an expression, at most."""

MOST_POWER = 64
"""The largest exponent."""

Functions = Mapping[str, Callable[..., Any]]

BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
SYNTAX = (
    "numbers, text, names, + - * / // % **, comparisons, and, or, not, a if b else c, x[i], [a, b] and calls"
)


class NoValue(InputError):
    """What an expression selects is empty, or no function takes it: other data may give a value."""


class Scope(Protocol):
    """What names mean."""

    def value(self, name: str) -> Any:
        """The value of a name.

        Raises:
            InputError: there is no such name.
        """


class Columns:
    """A frame in an expression: `flows.goodput` is an array with an element for each flow."""

    def __init__(self, what: str, columns: Mapping[str, Any]) -> None:
        self.what = what
        self._columns = columns

    def column(self, name: str) -> Any:
        """A column by its name; a single number where the frame has one row.

        Raises:
            InputError: there is no such column.
        """
        import numpy as np

        if name not in self._columns:
            raise unknown(f"column of {self.what}", name, self._columns)
        found = self._columns[name]
        return np.array(found) if isinstance(found, list | array) else found


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression."""

    text: str
    tree: ast.expr

    @staticmethod
    def of(text: str) -> "Expression":
        """Reads an expression.

        Raises:
            InputError: it is none, or it uses something that expressions do not have.
        """
        if len(text) > LONGEST:
            raise InputError(f"the expression has more than {LONGEST} characters")
        try:
            tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise InputError(f"'{text}' is no expression: {error}") from None
        for node in ast.walk(tree):
            if not isinstance(node, KNOWN):
                raise InputError(f"'{text}': {type(node).__name__} is not known; expected {SYNTAX}")
        return Expression(text, tree)

    def calls(self) -> Iterator[tuple[str, list[Any]]]:
        """Every call of a function: its name and those arguments that are plain values."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                yield node.func.id, [one.value for one in node.args if isinstance(one, ast.Constant)]

    def is_value_of(self, function: str) -> bool:
        """Whether it is what a call of this function gives, and nothing else."""
        match self.tree:
            case ast.Call(func=ast.Name(id=name)):
                return name == function
        return False

    def names(self) -> set[str]:
        """The names that it asks of its scope."""
        called = {node.func for node in ast.walk(self.tree) if isinstance(node, ast.Call)}
        return {node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name) and node not in called}

    def columns(self) -> Iterator[tuple[str, str]]:
        """Every column that it reads, as (frame, column)."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                yield node.value.id, node.attr

    def evaluate(self, scope: Scope, functions: Functions) -> Any:
        """Its value.

        Raises:
            InputError: a name, a column or a function does not exist, or an operation has no result.
            NoValue: it has none with these data.
        """
        import numpy as np

        try:
            with np.errstate(all="ignore"):
                return _value(self.tree, scope, functions)
        except InputError as error:
            raise InputError(f"'{self.text}': {error}") from None
        except ValueError as error:
            raise NoValue(f"'{self.text}' has no value: {error}") from None
        except (TypeError, LookupError, ArithmeticError, AttributeError, RecursionError) as error:
            raise InputError(f"'{self.text}' has no value: {error}") from None


KNOWN = (
    ast.Constant,
    ast.Name,
    ast.Load,
    ast.Attribute,
    ast.Subscript,
    ast.Slice,
    ast.List,
    ast.Tuple,
    ast.IfExp,
    ast.BoolOp,
    ast.And,
    ast.Or,
    ast.Not,
    ast.UnaryOp,
    ast.BinOp,
    ast.Pow,
    ast.Compare,
    ast.Call,
    ast.keyword,
    *BINARY,
    *UNARY,
    *COMPARE,
)


def fill(value: Any, scope: Scope, functions: Functions) -> Any:
    """A setting with every expression in braces replaced by its value.

    Text that is one such expression and nothing else becomes the value itself, so "{sources}" is a number.
    Lists and tables are filled through and through.
    """
    if isinstance(value, Mapping):
        return {fill(key, scope, functions): fill(one, scope, functions) for key, one in value.items()}
    if isinstance(value, list):
        return [fill(one, scope, functions) for one in value]
    if not isinstance(value, str) or "{" not in value:
        return value
    whole = re.fullmatch(r"\{([^{}]*)\}", value)
    if whole:
        return _plain(Expression.of(whole[1]).evaluate(scope, functions))

    def replaced(found: re.Match[str]) -> str:
        return _text(Expression.of(found[1]).evaluate(scope, functions))

    return re.sub(r"\{([^{}]*)\}", replaced, value)


def _text(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") and not isinstance(value, str) else value


def _value(node: ast.expr, scope: Scope, functions: Functions) -> Any:
    """The value of a node of the tree."""
    match node:
        case ast.Constant(value=bool() | int() | float() | str() as constant):
            return constant
        case ast.Name(id=name):
            return scope.value(name)
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return _vector([_value(part, scope, functions) for part in parts])
        case ast.Attribute(value=ast.Name() as frame, attr=name):
            found = _value(frame, scope, functions)
            if not isinstance(found, Columns):
                raise InputError(f"'{frame.id}' has no columns")
            return found.column(name)
        case ast.Subscript(value=inner, slice=index):
            return _item(_value(inner, scope, functions), index, scope, functions)
        case ast.IfExp(test=test, body=body, orelse=other):
            return _value(body if _value(test, scope, functions) else other, scope, functions)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
            return _call(name, args, keywords, scope, functions)
        case _:
            return _operation(node, scope, functions)


def _operation(node: ast.expr, scope: Scope, functions: Functions) -> Any:
    """Arithmetic, comparisons and logic."""
    import numpy as np

    match node:
        case ast.BoolOp(op=how, values=values):
            join = np.logical_and if isinstance(how, ast.And) else np.logical_or
            found = [_value(value, scope, functions) for value in values]
            return _plain_truth(join.reduce(np.broadcast_arrays(*found)))
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return _plain_truth(np.logical_not(_value(inner, scope, functions)))
        case ast.UnaryOp(op=how, operand=inner):
            return UNARY[type(how)](_number(_value(inner, scope, functions)))
        case ast.BinOp(left=left, op=how, right=right):
            sides = (_number(_value(side, scope, functions)) for side in (left, right))
            return _arithmetic(how, *sides)
        case ast.Compare(left=left, ops=[how], comparators=[right]) if type(how) in COMPARE:
            return COMPARE[type(how)](_value(left, scope, functions), _value(right, scope, functions))
    raise InputError(f"{type(node).__name__} cannot be used like this; expected {SYNTAX}")


def _arithmetic(how: ast.operator, left: Any, right: Any) -> Any:
    import numpy as np

    if isinstance(how, ast.Pow):
        if np.max(np.abs(right)) > MOST_POWER:
            raise InputError(f"exponents are at most {MOST_POWER}")
        # A power that is too large, or of zero below it, has no value either.
        found = np.power(np.asarray(left, float), right)
        return np.where(np.isinf(found), math.nan, found)[()]
    if isinstance(how, ast.Div | ast.FloorDiv | ast.Mod):
        return _divided(BINARY[type(how)], left, right)
    return BINARY[type(how)](left, right)


def _divided(operation: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """What is divided by zero is no number, and not the end of the run."""
    import numpy as np

    is_zero = np.equal(right, 0)
    if not np.any(is_zero):
        return operation(left, right)
    return np.where(is_zero, math.nan, operation(left, np.where(is_zero, 1, right)))[()]


def _number(value: Any) -> Any:
    """A number or an array; a list of constants counts element by element, as a column does."""
    if isinstance(value, list):
        value = _vector(value)
    if isinstance(value, str | dict | list | Columns):
        raise InputError(f"'{value}' is no number")
    return value


def _plain_truth(value: "np.ndarray[Any, Any] | np.bool_") -> Any:
    return bool(value) if value.ndim == 0 else value


def _vector(parts: list[Any]) -> Any:
    """A list of numbers as an array; of anything else as it is."""
    import numpy as np

    numbers = parts and all(isinstance(part, int | float | np.number) for part in parts)
    return np.array(parts) if numbers else parts


def _item(container: Any, index: ast.expr, scope: Scope, functions: Functions) -> Any:
    if isinstance(index, ast.Slice):
        ends = (index.lower, index.upper)
        return container[slice(*(None if one is None else _value(one, scope, functions) for one in ends))]
    key = _value(index, scope, functions)
    if isinstance(container, Mapping) and key not in container:
        raise unknown("name", str(key), map(str, container))
    if isinstance(key, list):
        raise InputError("an index is a number, a name or a comparison")
    return container[key]


def _call(
    name: str, args: list[ast.expr], keywords: list[ast.keyword], scope: Scope, functions: Functions
) -> Any:
    if name not in functions:
        raise unknown("function", name, functions)
    named = {one.arg: _value(one.value, scope, functions) for one in keywords if one.arg}
    return functions[name](*(_value(one, scope, functions) for one in args), **named)
