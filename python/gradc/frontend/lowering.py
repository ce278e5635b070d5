"""The caller's side of the lowering process: one persistent worker, restarted when it dies.

The worker contains torch-mlir's endless loops and memory blow-ups: a request has a time limit and
the process a memory limit. Calls from several threads take turns. A forked child starts a worker of
its own.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import selectors
import struct
import subprocess
import sys
import threading
import time
from typing import Any

from ..errors import CaptureError

_WORKER = os.path.join(os.path.dirname(__file__), "worker.py")


class Lowering:
    """A lowering process with a time limit a request and a memory limit in bytes."""

    def __init__(self, seconds: float = 120.0, memory: int = 8 << 30) -> None:
        self.seconds = seconds
        self.memory = memory
        self._process: subprocess.Popen | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        """Start the worker now, so that it loads torch-mlir while the caller traces."""
        with self._lock:
            self._ensure()

    def request(self, message: dict[str, Any]) -> dict[str, Any]:
        """The worker's answer; ``CaptureError`` if it runs out of time or memory, or dies."""
        payload = json.dumps({**message, "seconds": self.seconds}).encode()
        frame = struct.pack("<Q", len(payload)) + payload
        with self._lock:
            for attempt in (0, 1):
                process = self._ensure()
                try:
                    answer = self._exchange(process, frame)
                except _Lost as lost:
                    self._stop()
                    # A worker killed while idle (by the system, say) is no fault of this program.
                    if lost.before_answer and attempt == 0:
                        continue
                    raise CaptureError(
                        f"lowering {lost}",
                        hint="the program below is more than torch-mlir can handle; "
                        "split it or raise the limits of gradc.frontend.lowering",
                    ) from None
                if answer.get("error") == "memory":
                    self._stop()
                    raise CaptureError(f"lowering ran out of memory ({self.memory >> 20} MiB)")
                return answer
        raise AssertionError("unreachable")

    def close(self) -> None:
        """End the worker."""
        with self._lock:
            self._stop()

    def forget(self) -> None:
        """In a forked child: the parent's worker is not ours to talk to or to kill."""
        process, self._process = self._process, None
        self._lock = threading.Lock()
        if process is not None:
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):
                    os.close(pipe.fileno())
            process.returncode = (
                0  # keeps Popen's destructor from waiting for a process of the parent
            )

    def _ensure(self) -> subprocess.Popen:
        if self._process is None or self._process.poll() is not None:
            self._stop()
            self._process = subprocess.Popen(
                # -P: the worker's own folder is no place to look for modules.
                [sys.executable, "-P", _WORKER, str(self.memory)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return self._process

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()

    def _exchange(self, process: subprocess.Popen, frame: bytes) -> dict[str, Any]:
        deadline = time.monotonic() + self.seconds
        try:
            process.stdin.write(frame)
            process.stdin.flush()
        except OSError:
            raise _Lost("lost its process before it began", before_answer=True) from None
        header = self._read(process, 8, deadline)
        (size,) = struct.unpack("<Q", header)
        return json.loads(self._read(process, size, deadline))

    def _read(self, process: subprocess.Popen, size: int, deadline: float) -> bytes:
        descriptor = process.stdout.fileno()
        chunks, missing = [], size
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while missing:
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    raise _Lost(f"took longer than {self.seconds:g} s")
                chunk = os.read(descriptor, min(missing, 1 << 20))
                if not chunk:
                    code = process.wait()
                    raise _Lost(
                        f"ended its process (exit code {code}; its memory limit is "
                        f"{self.memory >> 20} MiB)"
                    )
                chunks.append(chunk)
                missing -= len(chunk)
        return b"".join(chunks)


class _Lost(Exception):
    def __init__(self, message: str, before_answer: bool = False) -> None:
        super().__init__(message)
        self.before_answer = before_answer


WORKER = Lowering()
atexit.register(WORKER.close)
os.register_at_fork(after_in_child=WORKER.forget)
