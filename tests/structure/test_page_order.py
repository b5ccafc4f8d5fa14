"""The packages of the page: imports go from the shell down to the shared parts, in no circle."""

from tests.structure.parsed_sources import refuse, sources

FLOORS = (("parts",), ("chat",), ("memory", "conversations", "timings"), ("shell",))


def test_each_package_of_the_page_imports_only_itself_and_those_below_it() -> None:
    found = []
    for floor, packages in enumerate(FLOORS):
        below = {name for lower in FLOORS[:floor] for name in lower}
        for package in packages:
            for source in sources(f"ui/{package}"):
                for name in source.imports():
                    first, *rest = name.split(".")
                    if first == "ui" and (not rest or rest[0] not in below | {package}):
                        found.append(f"{source.path} imports {name}")
    refuse(found)
