"""The error of a link that advice cannot be for."""


class BadLink(ValueError):  # noqa: N818  the calling program may have it from its user
    """Raised for a link that cannot be, or that a router cannot shape.

    Parameters
    ----------
    where : str
        The option or the file with the value.
    problem : str
        The value, and what would do.
    """

    def __init__(self, where: str, problem: str) -> None:
        self.where = where
        self.problem = problem
        super().__init__(f"{where}: {problem}")
