"""`drystone solve`: solve one contact problem from a file."""

from pathlib import Path

from drystone.analysis.contact_problem import save_answer, solve_file
from drystone.cli.compiling_notice import show_compiling_notice
from drystone.cli.output import EXIT_DONE, EXIT_NOT_CONVERGED, print_json
from drystone.show.tables.summary_tables import print_solution


def solve(file: Path, method: str | None, tolerance: float | None, law: str | None, output: Path | None, json: bool) -> int:
    show_compiling_notice()
    answer = solve_file(file, method=method, tolerance=tolerance, law=law)
    if output is not None:
        save_answer(output, answer)
    print_json(answer.facts) if json else print_solution(answer.facts)
    return EXIT_DONE if answer.good else EXIT_NOT_CONVERGED
