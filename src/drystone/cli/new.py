"""`drystone new`: print a case to start from."""

from drystone.base.errors import InputError
from drystone.build import GENERATORS
from drystone.cli.output import print_json
from drystone.io.starter import summarise_generator, write_starter


def new(generator: str | None, listed: bool, json: bool) -> None:
    if listed:
        lines = {name: summarise_generator(name) for name in GENERATORS}
        width = max(map(len, lines))
        print_json(lines) if json else print("\n".join(f"{name:<{width}}  {line}" for name, line in lines.items()))
        return
    if generator is None:
        raise InputError("name a generator, as in drystone new arch; drystone new --list lists them all")
    text = write_starter(generator)
    print_json({"generator": generator, "case": text}) if json else print(text, end="")
