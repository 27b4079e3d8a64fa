"""What runs and sweeps on this machine have found."""

from __future__ import annotations

import json
import shutil
import weakref
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import NoResults

if TYPE_CHECKING:
    import pandas
    import pyarrow


class Results:
    """A folder of results. A temporary one is removed when nothing refers to this any more."""

    # What `_repr_html_` does not say of a table that is long.
    _ROWS_SHOWN = 20

    def __init__(self, folder: Path, *, is_temporary: bool) -> None:
        self.folder = folder
        if is_temporary:
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)

    @cached_property
    def tables(self) -> list[str]:
        """The names of the tables that there are."""
        return sorted(path.stem for path in self.folder.glob("*.parquet"))

    def table(self, name: str) -> pandas.DataFrame:
        """A table by its name, for pandas: what is empty is missing."""
        import pandas

        path = self._path(name, "csv")
        return pandas.read_csv(path, dtype_backend="numpy_nullable", keep_default_na=False, na_values=[""])

    def arrow(self, name: str) -> pyarrow.Table:
        """A table by its name, for pyarrow."""
        import pyarrow.parquet

        return pyarrow.parquet.read_table(self._path(name, "parquet"))

    @cached_property
    def series(self) -> pandas.DataFrame:
        """The time series, if the scenario asks for one (`measure.series`)."""
        return self.table("series")

    @cached_property
    def histograms(self) -> pandas.DataFrame:
        """The histograms of latencies and hops, for each flow."""
        return self.table("histograms")

    @property
    def scenario(self) -> str:
        """The scenario with all its defaults, as a text."""
        return (self.folder / "scenario.toml").read_text(encoding="utf-8")

    def save(self, folder: str | Path) -> Path:
        """Copies all files into a folder, which is made."""
        return Path(shutil.copytree(self.folder, folder, dirs_exist_ok=True))

    def _path(self, name: str, ending: str) -> Path:
        if name not in self.tables:
            there = ", ".join(self.tables)
            raise NoResults(f"there is no table `{name}`, only {there}: `[measure]` of the scenario says what is written down")
        return self.folder / f"{name}.{ending}"


class RunResults(Results):
    """What a run has found: `report`, and tables."""

    def __init__(self, folder: Path, report: dict[str, Any], *, is_temporary: bool) -> None:
        super().__init__(folder, is_temporary=is_temporary)
        self.report = report

    @cached_property
    def trees(self) -> pandas.DataFrame:
        """Congestion trees over time, if the scenario asks for them (`measure.trees`)."""
        return self.table("trees")

    @cached_property
    def links(self) -> pandas.DataFrame:
        """Links over time, if the scenario asks for them (`measure.links`)."""
        return self.table("links")

    @cached_property
    def messages(self) -> pandas.DataFrame:
        """Each message of flows that end, if the scenario asks for them (`measure.messages`)."""
        return self.table("messages")

    def to_pandas(self) -> pandas.DataFrame:
        """The time series if there is one, else the report as a row."""
        import pandas

        return self.series if "series" in self.tables else pandas.json_normalize(self.report)

    def __repr__(self) -> str:
        figures = ", ".join(f"{name} {_cell(self.report[name])}" for name in ("offered_load", "accepted_load"))
        return f"<RunResults {self.report['title']!r}: {figures}>"

    def _repr_html_(self) -> str:
        flows: dict[str, Any] = self.report["flows"]
        every = {"all": self.report, **flows} if len(flows) > 1 else flows
        rows = []
        for name, of in every.items():
            latency = (of.get("latency") or {}).get("message") or {}
            loads = [of.get("offered_load"), of.get("accepted_load"), of.get("saturated")]
            rows.append([name, *loads, latency.get("mean"), latency.get("p99"), latency.get("max")])
        heads = ["flow", "offered", "accepted", "saturated", "latency, mean", "p99", "max"]
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.report.get("notes", []))
        return _html(self.report["title"], heads, rows) + notes


class SweepResults(Results):
    """What a sweep has found: `rows`, which `table` has for pandas too, and what it consists of, `manifest`."""

    _FIGURES = ("offered_load", "accepted_load", "latency_message_mean", "latency_message_p99", "saturated")

    def __init__(self, folder: Path, rows: list[dict[str, Any]], *, is_temporary: bool) -> None:
        super().__init__(folder, is_temporary=is_temporary)
        self.rows = rows
        self.manifest: dict[str, Any] = json.loads((folder / "sweep.json").read_text(encoding="utf-8"))

    @property
    def axes(self) -> list[str]:
        """The paths that are varied."""
        return list(self.manifest["axes"])

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each point."""
        return self.table("sweep")

    def __repr__(self) -> str:
        return f"<SweepResults {self.manifest['title']!r}: {len(self.rows)} points over {', '.join(self.axes)}>"

    def _repr_html_(self) -> str:
        several = len({row.get("variant") for row in self.rows}) > 1
        columns = [*self.axes, *(["variant"] if several else []), *self._FIGURES]
        rows = [[row.get(column) for column in columns] for row in self.rows]
        left = len(rows) - self._ROWS_SHOWN
        more = f"<p>and {left} more</p>" if left > 0 else ""
        return _html(self.manifest["title"], columns, rows[: self._ROWS_SHOWN]) + more


def _html(title: str, heads: list[str], rows: list[list[Any]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(_cell(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    caption = f"<caption>{escape(title)}</caption>" if title else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
