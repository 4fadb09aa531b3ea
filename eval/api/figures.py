"""Results of a measurement with an attribute for each metric, and rows of a store as a data frame."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

from modexlab.eval.lab.metrics import METRICS, Measurement
from modexlab.eval.lab.store.rows import Row
from modexlab.eval.report.store_view import Entry, entries_of, names_of_metrics
from modexlab.fl.errors import BadInput, unknown

if TYPE_CHECKING:
    from pandas import DataFrame

ABOUT = ("design", "nbits", "interface", "operation", "stage", "family", "reference", "measurement")


class NoFigure(BadInput, AttributeError):
    """A metric that a measurement does not have."""


class Figures:
    """The figures of a measurement: an attribute for each metric that was measured, such as `area_um2`.

    `of(operation)` has the figures of one operation where several were measured. `dir()` lists the metrics.
    """

    def __init__(self, measurement: Measurement, operation: str = "") -> None:
        self.measurement, self.operation = measurement, operation

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that were measured."""
        mine = (figure for figure in self.measurement.figures if figure.operation in self._operations)
        return tuple(dict.fromkeys(figure.metric for figure in mine))

    @property
    def operations(self) -> tuple[str, ...]:
        """The operations that were measured."""
        figures = self.measurement.figures
        return tuple(dict.fromkeys(figure.operation for figure in figures if figure.operation))

    @property
    def _operations(self) -> tuple[str, ...]:
        return ("", self.operation) if self.operation else ("", *self.operations)

    @property
    def marks(self) -> tuple[str, ...]:
        """The reasons why the figures must not be compared, such as a missed clock."""
        return self.measurement.marks

    @property
    def tests(self) -> str:
        """The functional run of the same hardware that passed."""
        return self.measurement.tests

    def of(self, operation: str) -> "Figures":
        """The figures of one operation, with those that belong to all."""
        if operation not in self.operations:
            raise unknown("operation of this measurement", operation, self.operations)
        return Figures(self.measurement, operation)

    def value(self, metric: str, operation: str = "") -> float:
        """A figure by the name of its metric."""
        mine = (item for item in self.measurement.figures if item.metric == metric)
        if not operation and any(item.operation == self.operation for item in mine):
            operation = self.operation
        return self.measurement.value(metric, operation)

    def unit(self, metric: str) -> str:
        """The unit of a metric."""
        if metric not in self.metrics:
            raise NoFigure(self._missing(metric))
        return METRICS[metric].unit

    def _missing(self, name: str) -> str:
        """Why there is no figure of this name."""
        if name not in METRICS:
            return str(unknown("metric of this measurement", name, self.metrics))
        return f"{name} was not measured here; there are {', '.join(self.metrics)}"

    def __getattr__(self, name: str) -> float:
        if name.startswith("_") or name in ("measurement", "operation"):  # not there while it is unpickled
            raise AttributeError(name)
        if name not in self.metrics:
            raise NoFigure(self._missing(name))
        figures = [item for item in self.measurement.figures if item.metric == name]
        several = [item.operation for item in figures if item.operation in self._operations]
        if len(several) > 1:
            raise NoFigure(
                f"{name} of which operation? Give one of {', '.join(several)}, as in "
                f".of({several[0]!r}).{name}"
            )
        return self.value(name, several[0])

    def __dir__(self) -> Iterable[str]:
        return sorted({*super().__dir__(), *self.metrics})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Figures):
            return NotImplemented
        return (self.measurement, self.operation) == (other.measurement, other.operation)

    def __repr__(self) -> str:
        figures = (item for item in self.measurement.figures if item.operation in self._operations)
        lines = (
            f"{item.metric} {item.operation}".strip() + f" = {item.value:g} {item.unit}" for item in figures
        )
        return f"<{'; '.join(line.strip() for line in (*lines, *self.marks))}>"

    def frame(self) -> "DataFrame":
        """The figures as a data frame of pandas: a line for each figure."""
        columns = ("operation", "metric", "value", "unit")
        figures = [item for item in self.measurement.figures if item.operation in self._operations]
        return _frame([{name: getattr(item, name) for name in columns} for item in figures], columns)


class Results(Sequence[Row]):
    """Rows of a store: a sequence, and a data frame."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> "Results": ...
    def __getitem__(self, index: int | slice) -> "Row | Results":
        return Results(self._rows[index]) if isinstance(index, slice) else self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __repr__(self) -> str:
        return f"<{len(self)} rows of {len({row.measurement for row in self})} measurements>"

    def frame(self) -> "DataFrame":
        """A data frame of pandas with a line for each operation of a measurement: its design, settings that
        differ from their defaults, settings of the flow, and a column for each metric.
        """
        entries = entries_of(self._rows)
        return _frame([*map(_line, entries)], (*ABOUT, *names_of_metrics(entries)))


def _line(entry: Entry) -> dict[str, Any]:
    about = {
        "design": entry.subject,
        **{name: getattr(entry, name) for name in ABOUT if name != "design"},
    }
    figures = {name: entry.value(name) for name in (*entry.rows, *entry.derived)}
    return {**about, **figures, **dict(entry.flow), **entry.settings}


def _frame(lines: Sequence[dict[str, Any]], first: Sequence[str]) -> "DataFrame":
    """A data frame with these columns before the others."""
    try:
        import pandas
    except ModuleNotFoundError:
        raise BadInput(
            "pandas is not installed, and a data frame needs it: pip install 'modexlab[notebook]'; `modexlab "
            "store export` writes rows as CSV"
        ) from None
    others = dict.fromkeys(name for line in lines for name in line if name not in first)
    return pandas.DataFrame(list(lines), columns=[*first, *others])
