"""The library python-control, which no model here needs: laws and plants can be handed to it."""

from types import ModuleType


def python_control() -> ModuleType:
    """Import the library ``control``; ImportError states how to install it."""
    try:
        import control
    except ImportError as error:
        raise ImportError("transfer_function needs control: pip install 'aqmlab[theory]'", name="control") from error
    module: ModuleType = control
    return module
