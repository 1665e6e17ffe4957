"""Shared objects written without a compiler: the loader of the system finds the functions in them."""

from __future__ import annotations

import ctypes
import platform
import struct
from pathlib import Path

import pytest

from armdyn.bridges.shared_object import can_be_written, shared_object

loaded = pytest.mark.skipif(not can_be_written(), reason="shared objects of Linux")
SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)


@loaded
def test_every_name_leads_to_its_own_function(tmp_path: Path) -> None:
    functions = [SIGNATURE(lambda x, k=k: 10 * x + k) for k in range(3)]
    names = ["first", "second_with_a_longer_name", "third"]
    addresses = [ctypes.cast(function, ctypes.c_void_p).value or 0 for function in functions]
    file = tmp_path / "names.so"
    file.write_bytes(shared_object(dict(zip(names, addresses, strict=True))))
    library = ctypes.CDLL(str(file))
    assert [getattr(library, name)(4) for name in names] == [40, 41, 42]
    for absent in ("", "firs", "fourth"):
        assert not hasattr(library, absent)


@pytest.mark.parametrize(("machine", "number"), [("x86_64", 62), ("AMD64", 62), ("aarch64", 183)])
def test_the_header_names_the_processor(machine: str, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """EM_X86_64 and EM_AARCH64 of the ELF specification; the address is in the code as it is."""
    monkeypatch.setattr(platform, "machine", lambda: machine)
    content = shared_object({"name": 0x1122334455667788})
    kind, found, version = struct.unpack_from("<HHI", content, 16)
    assert (content[:7], kind, found, version) == (b"\x7fELF\x02\x01\x01", 3, number, 1)
    assert content.count(struct.pack("<Q", 0x1122334455667788)) == 1


def test_segments_as_loaders_want_them() -> None:
    """Addresses and offsets agree modulo the alignment; nothing can be both written and executed, nor the stack run."""
    content = shared_object({f"name{k}": k + 1 for k in range(300)})
    start, size, count = struct.unpack_from("<Q", content, 32)[0], *struct.unpack_from("<HH", content, 54)
    for k in range(count):
        kind, flags, offset, address, _, in_file, in_memory, align = struct.unpack_from(
            "<IIQQQQQQ", content, start + k * size
        )
        assert (offset - address) % align == 0 and in_file == in_memory and offset + in_file <= len(content)
        assert flags in (5, 6) and (kind != 0x6474E551 or flags == 6)
    kinds = [struct.unpack_from("<I", content, start + k * size)[0] for k in range(count)]
    assert sorted(kinds) == [1, 1, 2, 0x6474E551]
