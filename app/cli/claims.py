"""`paretoken claims`: the same deployment, measured in ways that give other answers."""

from pathlib import Path

from app.cli.exits import ANSWER
from app.cli.output import emit_json, waiting
from app.cli.page import Page
from sim.planning.claims import claims
from sim.report.claims import PAGE, claims_document, claims_files, claims_told
from sim.report.files import check_folder, write_files


def show_claims(*, out: Path | None, as_json: bool) -> int:
    """Measure, print, and write the page with its figures where asked."""
    if out is not None:
        check_folder(out)
    with waiting("Measuring one deployment in several ways"):
        found = claims()
    if out is not None:
        files = {name: text.encode() for name, text in claims_files(found).items()}
        write_files(out, files, main=PAGE)
    if as_json:
        emit_json(claims_document(found))
        return ANSWER
    page = Page()
    for claim in claims_told(found):
        page.line(claim.title, style="bold")
        page.line(claim.text)
        page.line()
    if out is not None:
        page.line(f"Written to {out}: {PAGE} and its figures")
    page.show()
    return ANSWER
