"""A data set that is not ours to distribute: where it comes from, and how to recognise it."""

import hashlib
import os
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tacit._doors import door, path

VARIABLE = "TACIT_DATA"


class DataMissingError(RuntimeError):
    """A data set is missing, or is not the right one; the message says what to do."""


@dataclass(frozen=True)
class Source:
    """The files of a data set by name, checksum and address.

    **Arguments:**

    - `name`: its folder, under the one that `TACIT_DATA` names.
    - `files`: file → SHA-256; None where it is not known, and the file is taken as it is.
    - `address`: where they are to be had; a file is at `address/file`.
    - `credit`: whose it is, for captions.
    - `remote`: file → its name at the address, where that is another.
    - `convert`: what makes a file's bytes of those at the address; the checksum is of the result.
    """

    name: str
    files: Mapping[str, str | None]
    address: str
    credit: str
    remote: Mapping[str, str] = field(default_factory=dict)
    convert: Callable[[bytes], bytes] = bytes

    @door(path=path)
    def folder(self, path: str | os.PathLike[str] | None = None) -> Path:
        """The folder with the checked files: `path`, else `$TACIT_DATA/name`.

        Raises `DataMissingError` with one sentence if it is missing or differs.
        """
        sentence = self.missing(path)
        if sentence is not None:
            raise DataMissingError(sentence)
        return self._place(path)

    @door(path=path)
    def missing(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """What is wrong with the local copy, in a sentence; None if nothing is."""
        if path is None and not os.environ.get(VARIABLE):
            return (
                f"the data set {self.name} is not at hand: set {VARIABLE} to the folder that holds "
                f"{self.name}/ ({', '.join(self.files)}, from {self.address})"
            )
        folder = self._place(path)
        for file, checksum in self.files.items():
            try:
                with (folder / file).open("rb") as content:
                    found = hashlib.file_digest(content, "sha256").hexdigest()
            except OSError:
                return (
                    f"the data set {self.name} is not at hand: there is no {folder / file}; it is "
                    f"to be had from {self.address}"
                )
            if checksum is not None and found != checksum:
                return (
                    f"{folder / file} is not the file that is meant: its SHA-256 begins "
                    f"{found[:12]}, that of {self.address}/{file} with {checksum[:12]}"
                )
        return None

    def fetch(self, path: str | os.PathLike[str] | None = None) -> Path:
        """Fetch the files from their address, check them, and return their folder."""
        if path is None and not os.environ.get(VARIABLE):
            raise ValueError(f"path: received none, and {VARIABLE} is not set; give a folder")
        folder = self._place(path)
        for file, checksum in self.files.items():
            if checksum is None:
                raise DataMissingError(
                    f"{self.name}: the checksum of {file} is not known, so it is not fetched; "
                    f"take it from {self.address} yourself, and put it into {folder}"
                )
            there = f"{self.address}/{self.remote.get(file, file)}"
            try:
                with urllib.request.urlopen(there, timeout=60) as reply:
                    content = self.convert(reply.read())
            except (urllib.error.URLError, OSError) as error:
                raise DataMissingError(f"{there} could not be fetched: {error}") from error
            found = hashlib.sha256(content).hexdigest()
            if found != checksum:
                raise DataMissingError(
                    f"{there} has changed: its SHA-256 begins {found[:12]}, expected "
                    f"is {checksum[:12]}"
                )
            folder.mkdir(parents=True, exist_ok=True)
            part = folder / f".{file}.part"
            part.write_bytes(content)
            part.replace(folder / file)
        return folder

    def _place(self, path: str | os.PathLike[str] | None) -> Path:
        return Path(path) if path is not None else Path(os.environ.get(VARIABLE, "")) / self.name
