"""The inside of the Python component: runs one script, the body of a function that has `input`, `files`, `log` and `fetch`.

The fence is the component's list of imports, which is `log` and `http` alone: a call of WASI ends the instance, and the server judges each
request. All that is replaced here is so that a script hears a Python error with its line instead.
"""

import sys

# The one in C asks the machine's clock by itself; the one in Python asks `time`.
sys.modules["_datetime"] = None

import _io
import _strptime
import _weakrefset
import abc
import ast
import base64
import binascii
import bisect
import builtins
import calendar
import codecs
import collections
import collections.abc
import contextlib
import copy
import csv
import dataclasses
import datetime
import decimal
import difflib
import email.message
import email.utils
import enum
import fnmatch
import fractions
import functools
import hashlib
import heapq
import hmac
import html
import html.parser
import io
import itertools
import json
import keyword
import linecache
import locale
import logging
import math
import numbers
import operator
import os
import pathlib
import pprint
import random
import re
import secrets
import shlex
import socket
import statistics
import string
import struct
import subprocess
import tempfile
import textwrap
import threading
import time
import traceback
import types
import typing
import unicodedata
import urllib.parse
import urllib.request
import uuid
import warnings
import xml.etree.ElementTree
import zlib

import wit_world
from componentize_py_types import Err

NAME = "script"
TMP = "/tmp/"
TMP_BYTES = 16 << 20
FORM = "a script is the body of a Python function: it has input, files and log(…), and returns its result"


def refusing(what):
    def refuse(*_, **__):
        raise PermissionError(f"a script has no {what}")

    return refuse


class Disk:
    """The files that `open` reaches: those of the run, and a `/tmp` in memory."""

    def __init__(self, files):
        self.files = {name: text.encode() for name, text in files.items()}
        self.tmp = {}

    def content(self, name):
        name = os.fspath(name)
        content = self.tmp.get(name, self.files.get(name))
        if content is None:
            raise FileNotFoundError(f"there is no file {name!r}; a script has its files and what it wrote to /tmp")
        return content

    def room(self, name, size):
        others = sum(len(kept) for other, kept in self.tmp.items() if other != name)
        if others + size > TMP_BYTES:
            raise OSError(f"{name}: /tmp has room for {TMP_BYTES >> 20} MiB")

    def open(self, file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None):
        name = os.fspath(file)
        if not isinstance(name, str):
            raise PermissionError("a script opens files by name")
        writes = set(mode) & set("wax+")
        if writes and not name.startswith(TMP):
            raise PermissionError(f"{name!r} can only be read; write to /tmp")
        if "x" in mode and name in self.tmp:
            raise FileExistsError(f"{name!r} is there")
        there = b"" if set(mode) & set("wx") or ("a" in mode and name not in self.tmp) else self.content(name)
        raw = Written(self, name, there, "a" in mode) if writes else io.BytesIO(there)
        return raw if "b" in mode else io.TextIOWrapper(raw, encoding or "utf-8", errors, newline, write_through=True)

    def remove(self, path, **_):
        name = os.fspath(path)
        self.content(name)
        if name not in self.tmp:
            raise PermissionError(f"{name!r} can only be read")
        del self.tmp[name]

    def listdir(self, path="."):
        if os.fspath(path).rstrip("/") != TMP.rstrip("/"):
            raise PermissionError("a script lists /tmp only; its files are in `files`")
        return [name.removeprefix(TMP) for name in self.tmp]

    def stat(self, path, **_):
        regular = 0o100444
        return os.stat_result((regular, 0, 0, 1, 0, 0, len(self.content(path)), 0, 0, 0))


class Written(io.BytesIO):
    """A file of `/tmp` that is open for writing."""

    def __init__(self, disk, name, content, at_end):
        super().__init__(content)
        self.disk, self.name, self.at_end = disk, name, at_end
        self.seek(0, io.SEEK_END if at_end else io.SEEK_SET)
        disk.tmp[name] = bytes(content)

    def write(self, data):
        if self.at_end:
            self.seek(0, io.SEEK_END)
        self.disk.room(self.name, self.tell() + memoryview(data).nbytes)
        return super().write(data)

    def flush(self):
        if not self.closed:
            self.disk.room(self.name, len(self.getbuffer()))
            self.disk.tmp[self.name] = self.getvalue()

    def close(self):
        try:
            self.flush()
        finally:
            super().close()


class Lines(io.TextIOBase):
    """The printed text goes to the log, line by line."""

    def __init__(self):
        self.begun = ""

    def writable(self):
        return True

    def write(self, text):
        *lines, self.begun = (self.begun + text).split("\n")
        for line in lines:
            log(line)
        return len(text)

    def end(self):
        if self.begun:
            log(self.begun)


def log(*words):
    wit_world.log(clean(" ".join(map(str, words))))


def clean(text):
    """The text without halves of characters, which cannot leave the instance."""
    return text.encode("utf-8", "replace").decode()


class Response:
    """The answer of a host, with the parts that it has in JavaScript."""

    def __init__(self, answer):
        self.status, self.status_text, self.url = answer["status"], answer["status_text"], answer["url"]
        self.ok = 200 <= self.status < 300
        self.headers = email.message.Message()
        for name, value in answer["headers"]:
            self.headers[name] = value
        self.body = base64.b64decode(answer["body_base64"]) if "body_base64" in answer else answer["body"].encode()

    def bytes(self):
        return self.body

    def text(self):
        return self.body.decode("utf-8", "replace")

    def json(self):
        return json.loads(self.text())


def fetch(url, method="GET", headers=None, body=None):
    """Sends a request to a host that the approval grants, and waits for its answer; a status like 404 raises nothing."""
    pairs = headers.items() if hasattr(headers, "items") else headers or ()
    headers, method = [(str(name), str(value)) for name, value in pairs], str(method).upper()
    request = {"method": method, "url": str(url), "headers": headers}
    if body is not None and method in ("GET", "HEAD"):
        raise TypeError(f"a request with {method} has no body; give a method, like POST")
    if isinstance(body, str):
        request["body"] = body
        if not any(name.lower() == "content-type" for name, _ in headers):
            headers.append(("content-type", "text/plain;charset=UTF-8"))
    elif isinstance(body, (bytes, bytearray, memoryview)):
        request["body_base64"] = base64.b64encode(body).decode()
    elif body is not None:
        raise TypeError("a body is text or bytes; give an object as json.dumps(object)")
    try:
        answer = wit_world.http(json.dumps(request))
    except Err as refused:
        raise OSError(refused.value) from None
    return Response(json.loads(answer))


# What the C code of Python asks before it does it, by its first word.
ASKED = ("open", "os", "shutil", "socket", "subprocess", "tempfile", "ftplib", "fcntl", "ctypes", "resource", "signal", "glob", "pathlib")


def audit(event, _):
    """Keeps C code from the file system: a syntax error, for one, looks for its line in the file of that name."""
    if closed and event.partition(".")[0] in ASKED:
        raise PermissionError(f"a script has no {event}; it has input, files, log(…) and /tmp")


# Filled by the first run: the snapshot is still made with files.
closed = []


def close_the_world():
    """Takes away what would end the instance. It happens once, before the snapshot."""
    sys.path[:] = []
    sys.path_hooks[:] = []
    sys.path_importer_cache.clear()
    for name in ("scandir", "lstat", "mkdir", "rename", "replace", "rmdir", "getcwd", "access", "readlink", "chdir", "open", "link",
                 "symlink", "truncate", "utime", "read", "write", "close", "dup", "fstat"):
        if hasattr(os, name):
            setattr(os, name, refusing(f"os.{name}"))
    for name in ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time", "process_time_ns",
                 "thread_time", "thread_time_ns", "sleep", "clock_gettime", "clock_gettime_ns", "get_clock_info"):
        if hasattr(time, name):
            setattr(time, name, refusing("clock"))
    for name, given in (("gmtime", 1), ("localtime", 1), ("ctime", 1), ("asctime", 1), ("strftime", 2)):
        setattr(time, name, of_given_time(getattr(time, name), given))
    no_network = refusing("network but fetch(url), for the hosts that its approval grants")
    socket.socket = socket.create_connection = socket.getaddrinfo = socket.gethostbyname = no_network
    urllib.request.urlopen = no_network
    subprocess.Popen = subprocess.run = refusing("other programs")
    threading.Thread.start = refusing("threads")
    os.urandom = random._urandom = refusing("randomness of the machine; random begins with the same seed in each run")
    uuid.uuid1 = uuid.uuid4 = os.urandom
    linecache.getlines = lambda *_, **__: []
    linecache.getline = lambda *_, **__: ""
    linecache.checkcache = lambda *_, **__: None
    linecache.lazycache = lambda *_, **__: False
    sys.addaudithook(audit)


def of_given_time(ask, given):
    def asked(*words):
        if len(words) < given or words[-1] is None:
            raise PermissionError("a script has no clock")
        return ask(*words)

    return asked


def function_of(source):
    """The function whose body a source is. Lines stay the author's."""
    module = ast.parse("def script(input, files, log, fetch): pass")
    module.body[0].body = compile(source, NAME, "exec", ast.PyCF_ONLY_AST).body or [ast.Pass()]
    scope = {"__name__": NAME}
    exec(compile(ast.fix_missing_locations(module), NAME, "exec"), scope)
    return scope["script"]


def told(error, source):
    """The sentence about an error, with its line in the source."""
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg} (line {error.lineno}); {FORM}"
    lines, at = source.split("\n"), None
    trace = error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == NAME:
            at = trace.tb_lineno
        trace = trace.tb_next
    if at is None:
        return f"{type(error).__name__}: {error}"
    return f"{type(error).__name__}: {error} (line {at}: {lines[at - 1].strip()[:120] if at <= len(lines) else ''})"


class WitWorld(wit_world.WitWorld):
    def run(self, source, given):
        given = json.loads(given)
        disk, lines = Disk(given["files"]), Lines()
        io.open = builtins.open = _io.open = disk.open
        os.remove = os.unlink = disk.remove
        os.listdir, os.stat = disk.listdir, disk.stat
        random.seed(1)
        closed.append(True)
        sys.stdout = sys.stderr = lines
        try:
            result = function_of(source)(given["input"], types.MappingProxyType(given["files"]), log, fetch)
            return clean(json.dumps(result, ensure_ascii=False, allow_nan=False))
        except BaseException as error:
            raise Err(clean(told(error, source))) from None
        finally:
            lines.end()


close_the_world()
