"""The library python-control, which no model here needs: laws and plants can be handed to it."""

from types import ModuleType


def python_control() -> ModuleType:
    """Import the library; raise ImportError, with the command that installs it, if it is not there."""
    try:
        import control
    except ImportError as error:
        raise ImportError("transfer_function needs control: pip install 'aqmlab[theory]'", name="control") from error
    module: ModuleType = control
    return module
