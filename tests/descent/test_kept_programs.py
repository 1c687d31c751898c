"""Programs that a process keeps are found by the next."""

import os
import subprocess
import sys

from tacit.descent import keep_programs

SCRIPT = """
import sys
import jax
from tacit.descent import keep_programs
found = []
jax.monitoring.register_event_listener(lambda event, **_: found.append(event.rpartition("/")[2]))
assert str(keep_programs(sys.argv[1])) == sys.argv[1]
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
jax.jit(lambda x: x * 3 + 1)(2.0)
print(found.count("cache_hits"))
"""


def test_a_second_process_finds_the_programs_of_the_first(tmp_path):
    hits = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(tmp_path / "kept")],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"JAX_ENABLE_COMPILATION_CACHE": "true"},
        )
        hits.append(int(done.stdout))
    assert hits[0] == 0 < hits[1]


def test_without_a_folder_it_is_the_one_of_the_command_line(tmp_path, monkeypatch):
    import jax

    before = {name: getattr(jax.config, name) for name in _SETTINGS}
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    try:
        assert keep_programs().name == "jax"
        assert jax.config.jax_compilation_cache_dir == str(keep_programs())
    finally:
        for name, value in before.items():
            jax.config.update(name, value)


_SETTINGS = ("jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs")
