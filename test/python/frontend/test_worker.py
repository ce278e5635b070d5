"""The lowering process is bounded, replaced when lost, and ends with its parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from gradc.errors import CaptureError
from gradc.frontend.lowering import Lowering

MODULE = """
module {
func.func @main(%arg0: !torch.vtensor<[3],f32>) -> (!torch.vtensor<[3],f32>) {
%v1 = "torch.aten.tanh"(%arg0) : (!torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32>
func.return %v1 : !torch.vtensor<[3],f32>
}
}
"""
REQUEST = {"module": MODULE, "definitions": "", "transforms": {}}


def long_chain(length: int) -> str:
    """More work than a moment is enough for."""
    kind = "!torch.vtensor<[3],f32>"
    ops = "\n".join(
        f'%v{i + 1} = "torch.aten.tanh"(%v{i}) : ({kind}) -> {kind}' for i in range(length)
    )
    return (
        f"module {{\nfunc.func @main(%v0: {kind}) -> ({kind}) {{\n{ops}\n"
        f"func.return %v{length} : {kind}\n}}\n}}\n"
    )


@pytest.fixture
def lowering():
    made = Lowering(seconds=60.0)
    yield made
    made.close()


def test_lowers(lowering):
    assert "math.tanh" in lowering.request(REQUEST)["mlir"]
    assert lowering.request({**REQUEST, "module": "nonsense"})["error"] == "parse"
    assert "math.tanh" in lowering.request(REQUEST)["mlir"]


def test_time_limit_and_restart(lowering):
    lowering.request(REQUEST)
    first = lowering._process.pid
    lowering.seconds = 0.05
    started = time.monotonic()
    with pytest.raises(CaptureError, match=r"took longer than 0\.05 s"):
        lowering.request({**REQUEST, "module": long_chain(20000)})
    assert time.monotonic() - started < 10
    lowering.seconds = 60.0
    assert "mlir" in lowering.request(REQUEST)
    assert lowering._process.pid != first


def test_memory_limit():
    small = Lowering(seconds=60.0, memory=1 << 20)
    with pytest.raises(CaptureError, match="memory"):
        small.request(REQUEST)
    small.close()


def test_killed_while_idle(lowering):
    lowering.request(REQUEST)
    os.kill(lowering._process.pid, signal.SIGKILL)
    lowering._process.wait()
    assert "mlir" in lowering.request(REQUEST)


def test_threads_take_turns(lowering):
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(lowering.request(REQUEST))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 4 and all("mlir" in answer for answer in answers)


def test_a_forked_child_leaves_the_parents_worker_alone(lowering):
    lowering.request(REQUEST)
    parents = lowering._process.pid
    child = os.fork()
    if child == 0:
        lowering.forget()
        own = "mlir" in lowering.request(REQUEST) and lowering._process.pid != parents
        lowering.close()
        os._exit(0 if own else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert "mlir" in lowering.request(REQUEST)
    assert lowering._process.pid == parents


def test_ends_with_its_parent():
    root = os.path.dirname(sys.modules["gradc.frontend.lowering"].__file__)
    script = (
        "import importlib.util, sys, types\n"
        "for name in ('gradc', 'gradc.frontend'):\n"
        "    sys.modules[name] = types.ModuleType(name); sys.modules[name].__path__ = []\n"
        f"sys.modules['gradc'].__path__ = [{os.path.dirname(root)!r}]\n"
        f"sys.modules['gradc.frontend'].__path__ = [{root!r}]\n"
        "from gradc.frontend.lowering import WORKER\n"
        "print(WORKER._ensure().pid, flush=True)\n"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    pid = int(out.stdout)
    for _ in range(50):
        if not os.path.exists(f"/proc/{pid}"):
            return
        time.sleep(0.1)
    pytest.fail("the worker outlived its parent")
