"""What nodes and classes are called in an explanation, and how numbers are spelled."""

from collections.abc import Sequence

from bpgnn.errors import InputError

Names = Sequence[str] | None


def name_of(number: int, names: Names, kind: str = "node") -> str:
    r"""Call a node or a class by its name, or by its number where there are no names.

    What cannot be printed, such as a line break, becomes a space.

    Example:
        >>> name_of(1, ["Ann", "Bob\nby"]), name_of(1, None), name_of(1, (), "class")
        ('Bob by', 'node 1', 'class 1')
    """
    if not names:
        return f"{kind} {number}"
    if number >= len(names):
        raise InputError(
            f"There is no name for {kind} {number}: {len(names)} names were given. "
            f"Give one for each {kind}, or none."
        )
    printable = "".join(sign if sign.isprintable() else " " for sign in str(names[number]))
    return printable.strip() or f"{kind} {number}"


def percent(share: float) -> str:
    """Spell a share.

    Example:
        >>> percent(0.61), percent(0.001), percent(1.0)
        ('61 %', 'under 1 %', '100 %')
    """
    return f"{100 * share:.0f} %" if share >= 0.005 or share == 0 else "under 1 %"


def short(number: float) -> str:
    """Spell a number in two digits.

    Example:
        >>> short(0.8312), short(1.0), short(1e-24)
        ('0.83', '1', '1e-24')
    """
    return f"{number:.2g}"
