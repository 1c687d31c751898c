"""`tacit explore`: a local page with sliders."""

import webbrowser

from tacit._errors import UsageError
from tacit.explore import Explorer


def run(*, show: bool, port: int) -> int:
    """Serve the page until Ctrl-C, which is how it ends and no failure."""
    if not 0 <= port < 65536:
        raise UsageError(f"--port: received {port}, allowed is 0 (a free one) to 65535")
    with Explorer(port=port) as explorer:
        print(f"{explorer.address}  (Ctrl-C ends it)", flush=True)
        if show:
            webbrowser.open(explorer.address)
        try:
            explorer.wait()
        except KeyboardInterrupt:
            print()
    return 0
