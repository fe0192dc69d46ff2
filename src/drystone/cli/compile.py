"""`drystone compile`: compile all kernels before they are needed."""

from drystone.base.cores import available_cores
from drystone.base.kernel.store import user_folder
from drystone.cli.compile_all import compile_all
from drystone.cli.output import print_json, print_status


def compile(jobs: int | None, json: bool) -> None:
    total, processes = 0, jobs or available_cores()
    print_status(f"compiling the kernels that have not been compiled yet, in {processes} processes")
    for stage, count in compile_all(processes):
        print_status(f"{stage}: {count} kernels compiled now")
        total += count
    if json:
        print_json({"compiled_now": total, "folder": str(user_folder())})
    else:
        print(f"{total} kernels were compiled now; they are kept in {user_folder()}")
