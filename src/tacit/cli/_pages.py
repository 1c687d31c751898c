"""The pages of results that a run writes as it goes on."""

from pathlib import Path

from tacit._files import FileKindError
from tacit.cli._narrator import say
from tacit.experiments import UsageError


class Pages:
    """The pages of the results, which grow while a long run goes on."""

    def __init__(self, folder: Path, *, several: bool) -> None:
        self._folder, self._several = folder, several

    def update(self, experiment: str) -> None:
        """Show what an experiment has written, unless it is the only one and the end is near."""
        if self._several:
            self.write(only=experiment)

    def write(self, only: str | None = None) -> Path:
        """Write the pages; what they have to leave out is said at the end, once."""
        from tacit.site import write_report

        def on_skip(path: Path, reason: str) -> None:
            if only is None:
                say(f"skipped {path}: {reason}")

        try:
            return write_report(self._folder, only=only, on_skip=on_skip)
        except FileKindError as error:
            raise UsageError(f"results: {error}") from None
