"""A data set that is not ours to distribute: where it comes from, and how to recognise it."""

import hashlib
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

from tacit._doors import door, path

VARIABLE = "TACIT_DATA"


class DataMissingError(RuntimeError):
    """A data set is missing, or is not the right one; the message says what to do."""


@dataclass(frozen=True)
class Source:
    """The files of a data set by name, checksum and address.

    **Arguments:**

    - `name`: its folder, under the one that `TACIT_DATA` names or in the user's cache.
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
        """The folder with the checked files: see `place`.

        Raises `DataMissingError` with one sentence if it is missing or differs.
        """
        sentence = self.missing(path)
        if sentence is not None:
            raise DataMissingError(sentence)
        return self.place(path)

    @door(path=path)
    def missing(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """What is wrong with the local copy, in a sentence; None if nothing is."""
        if path is None and not os.environ.get(VARIABLE) and not self.place().is_dir():
            return (
                f"the data set {self.name} is not at hand: tacit data fetch {self.name}, or set "
                f"{VARIABLE} to the folder that holds {self.name}/ ({', '.join(self.files)}, from "
                f"{self.address})"
            )
        folder = self.place(path)
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
        folder = self.place(path)
        for file, checksum in self.files.items():
            if checksum is None:
                raise DataMissingError(
                    f"{self.name}: the checksum of {file} is not known, so it is not fetched; "
                    f"take it from {self.address} yourself, and put it into {folder}"
                )
            there = f"{self.address}/{self.remote.get(file, file)}"
            raw = _fetched(there)
            try:
                content = self.convert(raw)
            except DataMissingError:
                raise
            except Exception as error:  # what a server sends in its place may be anything
                raise DataMissingError(
                    f"{there} has changed: {file} cannot be made of its {len(raw):,} bytes"
                ) from error
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

    def place(self, path: str | os.PathLike[str] | None = None) -> Path:
        """Its folder: `path`, else `$TACIT_DATA/name`, else in the user's cache."""
        if path is not None:
            return Path(path)
        if folder := os.environ.get(VARIABLE):
            return Path(folder) / self.name
        import platformdirs

        return platformdirs.user_cache_path("tacit") / "data" / self.name


def _fetched(address: str) -> bytes:
    """The bytes at an address, by pooch; a local address (`file:`) is read."""
    if address.startswith("file:"):
        try:
            return Path(url2pathname(urlparse(address).path)).read_bytes()
        except OSError as error:
            raise DataMissingError(f"{address} could not be fetched: {error}") from error
    import pooch

    pooch.get_logger().setLevel("ERROR")  # we say ourselves what is wrong
    with tempfile.TemporaryDirectory() as folder:
        try:
            # What is checked is the file that is made of these bytes, so they have no hash here.
            got = pooch.retrieve(address, known_hash=None, path=folder, fname="file")
        except Exception as error:  # of whichever library pooch has asked
            words = str(error)
            if hasattr(error, "response"):  # those of requests say it at length
                answer = error.response
                words = "there is no network, or no answer"
                words = words if answer is None else f"the server says {answer.status_code}"
            raise DataMissingError(f"{address} could not be fetched: {words}") from error
        return Path(got).read_bytes()
