"""A figure in a page, drawn by the Python examples above it: it cannot show anything else."""

import doctest
import re
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from fedparity.plots import drawing

FENCE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


class Drawn(SphinxDirective):
    """``{drawn} name`` shows the display that the examples so far call ``name``.

    The content says what it shows, for those who do not see it.
    """

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Run the examples above, and put the drawing here as it would stand in a report."""
        page = Path(self.env.doc2path(self.env.docname))
        self.env.note_dependency(str(page))
        above = "\n".join(page.read_text("utf-8").splitlines()[: self.lineno])
        examples = doctest.DocTestParser().get_examples("\n".join(FENCE.findall(above)))
        # kept while Sphinx reads this page, so that no example runs twice
        known, done = self.env.temp_data.setdefault("drawn", ({}, []))
        for example in examples[len(done) :]:
            exec(compile(example.source, str(page), "single"), known)  # noqa: S102 -- our own page
            done.append(example)
        alt = " ".join(self.content)
        made = drawing(known[self.arguments[0]], alt=alt, name=f"drawn-{self.lineno}")
        paper = "background: #fff; color: #1f2933; padding: 0.5em; margin: 1em 0"  # also at night
        figure = f'<figure style="{paper}">{made.svg}</figure>'
        return [nodes.raw("", figure, format="html")]


def setup(app) -> dict[str, bool]:  # noqa: ANN001 -- Sphinx's
    """Add the directive."""
    app.add_directive("drawn", Drawn)
    return {"parallel_read_safe": True}
