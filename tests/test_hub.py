"""Names of models on a hub that cannot be reached, is switched off, or does not answer."""

import socket
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from discsum.hub import local_only

CODE = (
    "from discsum.hub import local_only\nfrom discsum.errors import WeightsError\n"
    "try:\n    print(local_only('hf:no/such'))\nexcept WeightsError as error:\n    print(error)\n"
)


def asked(tmp_path, code=CODE, **environment):
    """Return the output of the check, and its duration in seconds."""
    env = {"HF_HOME": str(tmp_path), "PATH": "", "no_proxy": "*"} | environment
    start = time.monotonic()
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True)
    assert result.stderr == ""
    return result.stdout.strip(), time.monotonic() - start


@pytest.fixture
def silent():
    """Yield the address of a server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def test_a_hub_that_refuses(tmp_path):
    said, seconds = asked(tmp_path, HF_ENDPOINT="http://127.0.0.1:9")
    assert said == (
        "hf:no/such: expected a model of the Hugging Face hub, but http://127.0.0.1:9 cannot be reached ([Errno 111] "
        "Connection refused), and the cache "
        "does not have it; name a local folder, or check the network, HF_ENDPOINT and HF_HUB_OFFLINE"
    )
    assert seconds < 10


def test_a_hub_that_does_not_answer(tmp_path, silent):
    said, seconds = asked(tmp_path, HF_ENDPOINT=silent)
    assert f"but {silent} cannot be reached" in said
    assert seconds < 10


def test_a_hub_that_fails(tmp_path):
    class Failing(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_error(500)

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Failing) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        said, seconds = asked(tmp_path, HF_ENDPOINT=address)
        server.shutdown()
    assert f"but {address} answers with an error (" in said and "500" in said
    assert seconds < 10


def test_a_dataset_that_is_not_there_is_an_input(tmp_path):
    code = CODE.replace("WeightsError", "InputError").replace("'hf:no/such'", "'hf:no/such:config', 'dataset'")
    said, _ = asked(tmp_path, code, HF_HUB_OFFLINE="1")
    assert said.startswith("hf:no/such:config: expected a dataset of the Hugging Face hub, but HF_HUB_OFFLINE is set")


def test_offline(tmp_path):
    said, seconds = asked(tmp_path, HF_HUB_OFFLINE="1")
    assert "but HF_HUB_OFFLINE is set, and the cache does not have it" in said
    assert seconds < 10


def test_what_the_cache_has_is_used_without_the_hub(tmp_path):
    commit = tmp_path / "hub" / "models--no--such" / "snapshots" / ("0" * 40)
    commit.mkdir(parents=True)
    (commit / "config.json").write_text("{}")
    (commit.parents[1] / "refs").mkdir()
    (commit.parents[1] / "refs" / "main").write_text("0" * 40)
    assert asked(tmp_path, HF_ENDPOINT="http://127.0.0.1:9")[0] == "True"
    assert asked(tmp_path, HF_HUB_OFFLINE="1")[0] == "True"
    for revision, known in (("main", True), ("0" * 40, True), ("v9", False)):
        code = CODE.replace("'hf:no/such'", f"'hf:no/such', revision='{revision}'")
        said = asked(tmp_path, code, HF_HUB_OFFLINE="1")[0]
        assert (said == "True", "the cache does not have it" in said) == (known, not known)


def test_a_local_folder_is_not_taken_for_the_hub(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "no" / "such").mkdir(parents=True)
    assert asked(tmp_path)[0] == (
        "hf:no/such: expected a name that only the hub has, got that of the local folder no/such; leave out hf: to "
        "read the folder, or run the command elsewhere to read the hub"
    )


def test_an_empty_name_is_no_folder(tmp_path):
    assert asked(tmp_path, CODE.replace("hf:no/such", "hf:"))[0].startswith("hf:: expected ")
    assert "local folder ;" not in asked(tmp_path, CODE.replace("hf:no/such", "hf:"))[0]


def test_a_name_that_is_none(tmp_path):
    code = CODE.replace("hf:no/such", "hf:a/b/c")
    assert asked(tmp_path, code)[0].startswith("hf:a/b/c: expected the name of a model on the hub, or a local folder; ")


def test_the_hub_is_asked_again_after_a_minute(tmp_path, monkeypatch):
    asked, clock = [], [1000.0]

    def known(api, name, **_):
        asked.append(name)

    monkeypatch.setattr("huggingface_hub.HfApi.repo_info", known)
    monkeypatch.setattr("discsum.hub.time.monotonic", lambda: clock[0])
    for clock[0] in (1000.0, 1010.0, 1070.0):
        assert local_only("hf:me/asked-again") is False
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("status", "code", "told"),
    [
        (403, "GatedRepo", "expected a model that you have access to, got a gated one; run hf auth login"),
        (404, "RevisionNotFound", "expected a revision of this model on the hub, got None; name a branch, tag or comm"),
    ],
)
def test_a_hub_that_has_the_model_but_gives_none(tmp_path, status, code, told):
    class Refusing(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.send_header("X-Error-Code", code)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Refusing) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        said, _ = asked(tmp_path, HF_ENDPOINT=f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
    assert said.startswith(f"hf:no/such: {told}")
