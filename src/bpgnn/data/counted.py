"""Numbers with the words that they count."""


def counted(number: int, one: str, many: str) -> str:
    """Write a number with the words for one or for many.

    Example:
        >>> counted(1, "edge was", "edges were"), counted(2000, "edge was", "edges were")
        ('1 edge was', '2,000 edges were')
    """
    return f"{number:,} {one if number == 1 else many}"
