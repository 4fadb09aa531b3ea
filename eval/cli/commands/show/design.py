"""Show a design: its settings and its promise about time.

Without a design, it lists what can be shown.

examples:
  modexlab show mont
  modexlab show mont --json
  modexlab show
"""

from argparse import Namespace

from ....designs import catalogue
from ....designs.machine import Design
from ...options import shared
from ...render import Table, answer
from ...routes import form_of, forms
from .designs import as_json, by_word, published, settings

COMMAND = "show"
OPTIONS = (shared("design", convert=catalogue.find), "--json")


def execute(args: Namespace) -> int:
    if args.design:
        return answer(args, [as_json(args.design)], _detail(args.design))
    named = {form: f"{form} DESIGN" if form == COMMAND else form for form in forms(COMMAND)}
    found = [{"form": text, "summary": form_of(form).summary} for form, text in named.items()]
    return answer(args, found, Table.of(found, {"form": "form", "summary": "summary"}))


def _detail(design: Design) -> str:
    lines = [
        f"{design.name}: {design.summary}",
        *([f"  settings       {settings(design)}"] if design.entry is not None else []),
        f"  family         {design.family}",
        f"  paper          {design.paper or 'ours'}",
        f"  domain         {design.domain}",
        f"  schedule       {design.schedule}",
        f"  constant time  {design.promises.sentence}",
    ]
    for word, given in by_word(design).items():
        lines.append(f"                 {word} with {', '.join(given)}")
    for operation, cycles in published(design).items():
        lines.append(f"  published      {operation}: {cycles} cycles")
    defaults = "parameters with their defaults at 32 bits (--set NAME=VALUE):"
    lines.append(f"  {defaults if design.params else 'no parameters'}")
    for param in design.params:
        lines += (
            f"    {param.name} = {param.default}",
            f"        {param.help}",
            f"        {param.describe_legal()}",
        )
    return "\n".join(lines)
