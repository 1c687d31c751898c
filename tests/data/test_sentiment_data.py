"""SST-2 and GloVe: made-up copies always, the real ones where they are at hand."""

import hashlib
import io
import os
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit.data._glove as glove
import tacit.data._sst2 as sst2_file
from tacit.data import (
    GLOVE_SST,
    SST2,
    SST2_CASED,
    DataMissingError,
    LabelledSentences,
    Reviews,
    Source,
    WordVectors,
    read_glove,
    read_labelled,
    sst2,
    tokens,
    word_vectors,
    word_vectors_missing,
)

TEXT = "1\ta fine film .\n0\ta dull one , -lrb- alas -rrb- .\n"
GLOVE_TEXT = "the 1 2\nfilm -0.5 4e-1\nfine 0 0\n"


def checksum(content):
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def without_data(monkeypatch):
    monkeypatch.delenv("TACIT_DATA", raising=False)


def test_a_file_of_sentences(tmp_path):
    (tmp_path / "a.tsv").write_text(TEXT, encoding="utf-8")
    found = read_labelled(tmp_path / "a.tsv")
    assert found.sentences == ("a fine film .", "a dull one , -lrb- alas -rrb- .")
    assert found.labels.tolist() == [1, 0]


@pytest.mark.parametrize("line", ["2\tgood", "1 good", "1\t", "good", "1\t  "])
def test_a_bad_line_is_named(tmp_path, line):
    (tmp_path / "a.tsv").write_text(f"{TEXT}{line}\n", encoding="utf-8")
    with pytest.raises(
        DataMissingError, match=r"line 3: received .*, a line is 0 or 1, a tab and a sentence"
    ):
        read_labelled(tmp_path / "a.tsv")
    (tmp_path / "a.tsv").write_text("")
    with pytest.raises(DataMissingError, match="no sentences"):
        read_labelled(tmp_path / "a.tsv")


def test_splits_are_fetched_by_other_names_and_rewritten(tmp_path, monkeypatch):
    there = tmp_path / "there"
    there.mkdir()
    files = {}
    for split, text in (("train", TEXT), ("dev", "0\tno .\n"), ("test", "1\tyes , crème .\n")):
        original = "".join(line.replace("\t", " ", 1) for line in text.splitlines(keepends=True))
        (there / f"stsa.binary.{split}").write_text(original, encoding="utf-8")
        files[f"{split}.tsv"] = checksum(text.encode())
    source = Source("sst2", files, there.as_uri(), "nobody", SST2.remote, SST2.convert)
    monkeypatch.setattr(sst2_file, "SST2", source)
    found = sst2(source.fetch(tmp_path / "sst2"))
    assert list(found) == ["train", "dev", "test"]
    assert found["test"].sentences == ("yes , crème .",)
    assert found["train"].labels.tolist() == [1, 0]


def test_without_the_data_there_is_one_sentence(without_data):
    with pytest.raises(
        DataMissingError, match="sst2 is not at hand: tacit data fetch sst2, or set TACIT_DATA"
    ):
        sst2()
    with pytest.raises(DataMissingError, match="glove6B_100d_sst is not at hand"):
        word_vectors()
    assert "glove.6B.zip" in word_vectors_missing()


def test_vectors_in_gloves_own_form():
    found = read_glove(io.StringIO(GLOVE_TEXT), {"film", "the", "unheard"})
    assert found.words == ("the", "film")
    np.testing.assert_array_equal(found.vectors, np.array([[1, 2], [-0.5, 0.4]], np.float32))
    for text, words in (
        ("a 1 x\n", "line 1"),
        ("a 1 2\nb 3\n", "line 2 .* has 1 numbers, expected are 2"),
        ("", "none of the words"),
    ):
        with pytest.raises(DataMissingError, match=words):
            read_glove(io.StringIO(text))


def test_the_restricted_copy_and_the_whole_archive(tmp_path, monkeypatch, without_data):
    small, whole = tmp_path / "small", tmp_path / "whole"
    small.mkdir(), whole.mkdir()
    vectors = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    np.savez(small / "vectors.npz", words=np.array(["the", "film", "é"]), vectors=vectors)
    with zipfile.ZipFile(whole / "glove.6B.zip", "w") as archive:
        archive.writestr("glove.6B.100d.txt", GLOVE_TEXT)
    for name, folder, file in (
        ("GLOVE_SST", small, "vectors.npz"),
        ("GLOVE", whole, "glove.6B.zip"),
    ):
        source = Source(folder.name, {file: checksum((folder / file).read_bytes())}, "x", "nobody")
        monkeypatch.setattr(glove, name, source)
    assert word_vectors(small).words == ("the", "film", "é")
    chosen = word_vectors(small, words=["é", "unheard"])
    assert chosen.words == ("é",)
    assert chosen.vectors.tolist() == [[5, 6]]
    assert word_vectors(whole, words=["fine"]).vectors.tolist() == [[0, 0]]
    assert word_vectors_missing(whole) is None
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    assert word_vectors().words == ("the", "film", "é")


def test_words_are_cut_at_hyphens_only_where_that_helps():
    known = {"well": 1, "made": 2, "-": 3, "k-19": 4, "(": 5, ")": 6}
    assert tokens("well-made k-19 -lrb- zz-yy -rrb-", known) == [
        *("well", "-", "made"),
        *("k-19", "(", "zz-yy", ")"),
    ]


def test_capitals_come_out_of_trees():
    trees = "(3 (2 A) (3 (3 Good) (2 one\\/two)))\n(2 (2 It) (2 is))\n(0 (1 -LRB-) (0 No))\n"
    assert SST2_CASED.convert(trees.encode()).decode() == "1\tA Good one/two\n0\t-LRB- No\n"
    # What follows the treebank's training part in the file is left out.
    assert SST2_CASED.convert(b"(3 (2 A))\n" * 8546).count(b"\n") == 8544


def made_up_reviews(spread):
    table = WordVectors(("film", "a", "unseen"), np.array([[1, 2], [3, 4], [5, 6]], np.float32))
    texts = {
        "train": LabelledSentences(("A film", "a Dull film"), np.array([1, 0])),
        "dev": LabelledSentences(("a unseen film Dull",), np.array([1])),
    }
    return Reviews.of(texts, table, spread=spread)


def test_reviews_know_the_words_of_training():
    found = made_up_reviews(1.0)
    assert [row.tolist() for row in found.words["train"]] == [[1, 2], [3, 4, 2]]
    assert [row.tolist() for row in found.words["dev"]] == [[3, 0, 2, 4]]
    assert found.vectors[[0, 2, 3]].tolist() == [[0, 0], [1, 2], [3, 4]]
    # Those that the table lacks, "A" and "Dull", have vectors of their own, always the same.
    assert np.all(found.vectors[[1, 4]] != 0)
    np.testing.assert_array_equal(found.vectors, made_up_reviews(1.0).vectors)
    assert not made_up_reviews(0.0).vectors[[1, 4]].any()


def test_reviews_are_chosen_by_length_and_number():
    found = made_up_reviews(1.0)
    rows, labels = found.chosen("train", longest=2)
    assert [row.tolist() for row in rows] == [[1, 2]]
    assert labels.tolist() == [1]
    rows, labels = found.chosen("train", longest=9, most=1)
    assert len(rows) == len(labels) == 1
    many = Reviews({"train": [np.array([n]) for n in range(50)]}, {"train": np.arange(50)}, None)
    rows, labels = many.chosen("train", longest=1, most=20)
    assert [row[0] for row in rows] == labels.tolist()  # sentences keep their labels
    assert len(set(labels)) == 20
    assert max(labels) > 30  # drawn from all of them
    np.testing.assert_array_equal(labels, many.chosen("train", longest=1, most=20)[1])


@given(st.lists(st.text("ab-(", min_size=1), min_size=1))
def test_no_sentence_becomes_empty(words):
    assert len(tokens(" ".join(words), ["a", "b-a", "-"])) >= len(words)


@pytest.mark.skipif(not os.environ.get("TACIT_DATA"), reason="TACIT_DATA is not set")
def test_the_real_ones_are_what_they_are_said_to_be():
    if (sentence := SST2.missing() or GLOVE_SST.missing()) is not None:
        pytest.skip(sentence)
    found, table = sst2(), word_vectors()
    liked = {split: (len(part.sentences), int(part.labels.sum())) for split, part in found.items()}
    assert liked == {"train": (6920, 3610), "dev": (872, 444), "test": (1821, 909)}
    assert table.vectors.shape == (16822, 100)
    assert table.vectors.dtype == np.float32
    assert np.isfinite(table.vectors).all()
    reviews = Reviews.of(found, table, spread=0.0)
    rows = reviews.words["train"]
    assert max(map(len, rows)) == 53
    unknown = ~reviews.vectors.any(axis=1)[np.concatenate(rows)]
    assert np.mean(unknown) < 0.006  # words without a vector
    # Near in meaning is near in space.
    place = {word: number for number, word in enumerate(table.words)}
    unit = table.vectors / np.linalg.norm(table.vectors, axis=1, keepdims=True)
    good, great, water = (unit[place[word]] for word in ("good", "great", "water"))
    assert good @ great > 0.6 > good @ water


@pytest.mark.skipif(SST2_CASED.missing() is not None, reason="sst2_cased is not at hand")
def test_the_cased_ones_are_the_same_sentences():
    """The counts of the public code's notebook: 6,920 and 872, 15,431 words, 138,260 tokens."""
    cased, lower = sst2(cased=True), sst2()
    for split in ("train", "dev", "test"):
        ours = {text.lower().replace("\\/", "/") for text in cased[split].sentences}
        theirs = {text.replace("\\/", "/") for text in lower[split].sentences}
        assert len(ours - theirs) <= 3
    reviews = Reviews.of(cased, word_vectors(), spread=1.0)
    assert len(reviews.vectors) == pytest.approx(15431, rel=0.03)
    assert sum(map(len, reviews.words["train"])) == pytest.approx(138260, rel=0.02)
